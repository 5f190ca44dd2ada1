/**
 * Mutation testing of SQL, which Stryker does not mutate. Runs the tests of a part once for each mutant, and prints the
 * mutants that no test detects. `npm run test:mutation:sql`, or `npm run test:mutation:sql -- upvotes`.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { startVitest } from 'vitest/node';
import { startThrowawayCluster } from '../support/throwaway-cluster.ts';
import { MIN_SCORE, PARTS, type Part } from './parts.ts';
import { type SqlMutant, sqlMutantsOf } from './sql-mutants.ts';

const asked = process.argv.slice(2);
const total = { made: 0, detected: 0 };
const cluster = await startThrowawayCluster({ durability: 'none' });
process.env.DATABASE_URL = cluster.url;
try {
  for (const name of asked.length === 0 ? Object.keys(PARTS) : asked) {
    const part = PARTS[name];
    if (part === undefined) throw new Error(`Unknown part ${name}. The parts are ${Object.keys(PARTS).join(', ')}.`);
    process.env.MUTATED_PART = name;
    await testMutants(name, part);
  }
} finally {
  await cluster.stop();
}
// Without mutants the score is NaN, which counts as too low.
const isEnough = (total.detected / total.made) * 100 >= MIN_SCORE;
// Exits explicitly, because failed tests may have left handles open.
process.exit(isEnough ? 0 : 1);

async function testMutants(name: string, part: Part): Promise<void> {
  if (!(await passes())) throw new Error(`The tests of the part ${name} fail even without a mutant. Fix them first.`);
  let made = 0;
  let detected = 0;
  for (const file of part.mutate.flatMap(filesOf)) {
    for (const mutant of sqlMutantsOf(readFileSync(file, 'utf8'))) {
      made += 1;
      if (!(await passes(file, mutant))) detected += 1;
      else process.stdout.write(`Survived ${file}:${mutant.line} ${mutant.from} -> ${mutant.to}\n`);
    }
  }
  process.stdout.write(`${name}: detected ${detected} of ${made} SQL mutants\n`);
  total.made += made;
  total.detected += detected;
}

/** Runs the part's tests on its original sources, or with a mutant in one of them. @returns whether they pass. */
async function passes(file?: string, mutant?: SqlMutant): Promise<boolean> {
  const mutated = file === undefined ? undefined : resolve(file);
  const vitest = await startVitest(
    'test',
    [],
    { config: 'tests/mutation/vitest.config.ts', watch: false, bail: 1, reporters: [{}] },
    {
      plugins: [
        { name: 'mutant', enforce: 'pre', transform: (_code, id) => (id === mutated ? mutant?.source : undefined) },
      ],
    },
  );
  const failed = vitest.state.getCountOfFailedTests() > 0 || vitest.state.getUnhandledErrors().length > 0;
  await vitest.close();
  // Vitest sets this exit code if tests fail, but this command must not exit with it.
  process.exitCode = 0;
  return !failed;
}

/** Returns the files that match a pattern such as `src/core/products/search-*.ts`, without tests. */
function filesOf(pattern: string): string[] {
  const [before = '', after] = basename(pattern).split('*');
  if (after === undefined) return [pattern];
  const folder = dirname(pattern);
  return readdirSync(folder)
    .filter((name) => name.startsWith(before) && name.endsWith(after) && !name.endsWith('.test.ts'))
    .map((name) => join(folder, name));
}
