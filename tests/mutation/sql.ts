/**
 * Mutation testing of SQL, which Stryker does not mutate. Applies each slip alone, and the tests of its part must
 * detect it. `npm run test:mutation:sql`, or `npm run test:mutation:sql -- upvotes`.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { startVitest } from 'vitest/node';
import { startThrowawayCluster } from '../support/throwaway-cluster.ts';
import { PARTS, type Part } from './parts.ts';
import { type SqlSlip, sqlSlipsOf } from './sql-slips.ts';

const asked = process.argv.slice(2);
const cluster = await startThrowawayCluster({ durability: 'none' });
process.env.DATABASE_URL = cluster.url;
try {
  for (const name of asked.length === 0 ? Object.keys(PARTS) : asked) {
    const part = PARTS[name];
    if (part === undefined) throw new Error(`There is no part ${name}, only ${Object.keys(PARTS).join(', ')}`);
    process.env.MUTATED_PART = name;
    await judge(name, part);
  }
} finally {
  await cluster.stop();
}
// Ends despite open handles of failed tests.
process.exit();

async function judge(name: string, part: Part): Promise<void> {
  if (!(await passes())) throw new Error('The tests fail without a slip');
  let made = 0;
  let noticed = 0;
  for (const file of part.mutate.flatMap(filesOf)) {
    for (const slip of sqlSlipsOf(readFileSync(file, 'utf8'))) {
      made += 1;
      if (!(await passes(file, slip))) noticed += 1;
      else process.stdout.write(`Survived ${file}:${slip.line} ${slip.from} -> ${slip.to}\n`);
    }
  }
  process.stdout.write(`${name}: ${noticed} of ${made} slips in SQL were detected\n`);
}

/** Runs the part's tests on its original sources, or with a slip in one of them. @returns whether they pass. */
async function passes(file?: string, slip?: SqlSlip): Promise<boolean> {
  const mutated = file === undefined ? undefined : resolve(file);
  const vitest = await startVitest(
    'test',
    [],
    { config: 'tests/mutation/vitest.config.ts', watch: false, bail: 1, reporters: [{}] },
    {
      plugins: [
        { name: 'slip', enforce: 'pre', transform: (_code, id) => (id === mutated ? slip?.source : undefined) },
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
