/** Every check of the project, in the order in which they are quick to fail. */
import { spawnSync } from 'node:child_process';
import { requireChromium } from './find-chromium.js';

const STEPS = [
  ['format and lint', 'biome', 'check', '--error-on-warnings', '.'],
  ['types', 'tsc', '--noEmit'],
  ['import rules', 'depcruise', 'src', '--config', '.dependency-cruiser.js', '--output-type', 'err'],
  ['build', 'node', 'scripts/build.js'],
  ['unit, API and command tests', 'vitest', 'run'],
  ['browser tests', 'playwright', 'test'],
];

// Before everything else: to find out after minutes that there is no browser would be a pity.
const environment = { ...process.env, CHROMIUM_PATH: requireChromium() };

for (const [index, [name, program, ...parameters]] of STEPS.entries()) {
  const started = Date.now();
  console.log(`\n[${index + 1}/${STEPS.length}] ${name}`);
  // npm has put the folder of the project's own programs first on the path.
  const { status, error } = spawnSync(program, parameters, { stdio: 'inherit', env: environment });
  if (error) console.error(error.message);
  if (status !== 0) {
    console.error(`\nFailed: ${name}`);
    process.exit(1);
  }
  console.log(`    ${name}: passed in ${Math.round((Date.now() - started) / 1000)} s`);
}
console.log(`\n${STEPS.length} passed, 0 failed`);
