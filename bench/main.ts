import { cards } from './cards.ts';
import { cluster } from './cluster.ts';
import { cold } from './cold.ts';
import { flood } from './flood.ts';
import { imports } from './import.ts';
import { lighthouseMarks } from './lighthouse.ts';
import { live } from './live.ts';
import { reads } from './reads.ts';
import { scale } from './scale.ts';
import { seed } from './seed.ts';
import { writes } from './writes.ts';

/** One file a scenario; each writes its results to bench/results and its chart to docs/images. */
const SCENARIOS: Record<string, (options: BenchOptions) => Promise<void>> = {
  writes,
  flood,
  reads,
  cluster,
  cold,
  cards,
};

/** Those that take flags of their own, which their files describe. */
const OTHERS: Record<string, (flags: readonly string[]) => Promise<void>> = {
  seed,
  scale,
  lighthouse: lighthouseMarks,
  live,
  import: imports,
};

export interface BenchOptions {
  /** How often each side is measured. */
  rounds: number;
  /** How long each measurement takes. */
  seconds: number;
  /** Connections that ask at the same time. */
  connections: number;
}

const DEFAULTS: BenchOptions = { rounds: 5, seconds: 4, connections: 256 };

const [name = '', ...flags] = process.argv.slice(2);
const scenario = SCENARIOS[name];
const other = OTHERS[name];
if (other !== undefined) {
  await other(flags).catch((error: Error) => {
    console.error(error.message);
    process.exitCode = 1;
  });
} else if (scenario === undefined) {
  console.error(
    `Usage: npm run bench -- seed --products N | scale | lighthouse | live | import | ${Object.keys(SCENARIOS).join('|')} [${Object.keys(
      DEFAULTS,
    )
      .map((option) => `--${option}=N`)
      .join('] [')}]`,
  );
  process.exit(2);
} else {
  await scenario(readOptions(flags));
}

function readOptions(flags: readonly string[]): BenchOptions {
  const options = { ...DEFAULTS };
  for (const flag of flags) {
    const [, option, value] = /^--(rounds|seconds|connections)=(\d+)$/.exec(flag) ?? [];
    if (option === undefined) {
      console.error(`Unknown option ${flag}`);
      process.exit(2);
    }
    options[option as keyof BenchOptions] = Number(value);
  }
  return options;
}
