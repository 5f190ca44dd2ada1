import { cards } from './cards.ts';
import { cluster } from './cluster.ts';
import { cold } from './cold.ts';
import { consoleActions } from './console.ts';
import { firstUpvote } from './first-upvote.ts';
import { flood } from './flood.ts';
import { imports } from './import.ts';
import { launchDays } from './launch-day.ts';
import { lighthouseScores } from './lighthouse.ts';
import { live } from './live.ts';
import { openLoop } from './open-loop.ts';
import { OPTIONS_USAGE, readOptions } from './options.ts';
import { reads } from './reads.ts';
import { scale } from './scale.ts';
import { seed } from './seed.ts';
import { writes } from './writes.ts';

/**
 * The scenarios by name. They write their results to bench/results and their charts, if any, to docs/images. Exceptions
 * are `seed`, which only fills a database, and `launch-day --quick`.
 */
const SCENARIOS: Record<string, (flags: readonly string[]) => Promise<void>> = {
  reads: (flags) => reads(readOptions(flags)),
  writes: (flags) => writes(readOptions(flags)),
  'open-loop': (flags) => openLoop(readOptions(flags, { rounds: 3, seconds: 20, connections: 0 })),
  flood: (flags) => flood(readOptions(flags)),
  cluster: (flags) => cluster(readOptions(flags)),
  cold: (flags) => cold(readOptions(flags)),
  console: (flags) => consoleActions(readOptions(flags)),
  cards: (flags) => cards(readOptions(flags)),
  'first-upvote': (flags) => firstUpvote(readOptions(flags)),
  // These scenarios parse their own flags, which their files describe.
  seed,
  scale,
  lighthouse: lighthouseScores,
  'launch-day': launchDays,
  live,
  import: imports,
};

const [name = '', ...flags] = process.argv.slice(2);
const scenario = SCENARIOS[name];
if (scenario === undefined) {
  console.error(
    `Usage: npm run bench -- ${Object.keys(SCENARIOS).join('|')} [flags]\nThe file of each scenario in bench describes its flags. Most accept ${OPTIONS_USAGE}.`,
  );
  process.exit(2);
}
await scenario(flags).catch((error: Error) => {
  console.error(error.message);
  process.exitCode = 1;
});
