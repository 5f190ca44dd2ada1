/** The steps of `npm test`. The steps of a group run in parallel, and the groups run one after the other. */

/**
 * @typedef {object} Step
 * @property {string} name
 * @property {string} program A program of the project, or `node`.
 * @property {string[]} parameters
 * @property {string} repeat The command that repeats this step alone.
 * @property {number} budgetSeconds The expected maximum duration on two otherwise idle cores.
 * @property {'vitest' | 'playwright'} [reports] The runner whose JSON report lists the tests of this step.
 */

/** @type {Step[][]} */
export const STEP_GROUPS = [
  [
    {
      name: 'Format and lint',
      program: 'biome',
      parameters: ['check', '--error-on-warnings', '.'],
      repeat: 'npm run check:format',
      budgetSeconds: 5,
    },
    {
      name: 'Types',
      program: 'node',
      parameters: ['node_modules/typescript-native/bin/tsc', '--noEmit'],
      repeat: 'npm run check:types',
      budgetSeconds: 10,
    },
    {
      name: 'Import rules',
      program: 'depcruise',
      parameters: ['src', 'bench', '--config', '.dependency-cruiser.js', '--output-type', 'err'],
      repeat: 'npm run check:imports',
      budgetSeconds: 10,
    },
    { name: 'Build', program: 'node', parameters: ['scripts/build.js'], repeat: 'npm run build', budgetSeconds: 15 },
  ],
  [
    {
      name: 'Unit, API and command tests',
      program: 'vitest',
      parameters: ['run'],
      repeat: 'npm run test:unit',
      budgetSeconds: 165,
      reports: 'vitest',
    },
  ],
  [
    {
      name: 'Browser tests',
      program: 'playwright',
      parameters: ['test'],
      repeat: 'npm run test:e2e',
      budgetSeconds: 105,
      reports: 'playwright',
    },
  ],
];

/** Returns two groups: the build, and the tests in files that match a pattern. */
export function stepsOnly(pattern) {
  const reports = pattern.includes('e2e') ? 'playwright' : 'vitest';
  const steps = STEP_GROUPS.flat();
  const build = steps.filter(({ name }) => name === 'Build');
  const tests = steps.filter((step) => step.reports === reports);
  return [build, tests.map((step) => ({ ...step, parameters: [...step.parameters, pattern] }))];
}
