/** Mutation testing, part by part: `npm run test:mutation`, or `npm run test:mutation -- upvotes`. */
import { Stryker } from '@stryker-mutator/core';
import { startThrowawayCluster } from '../support/throwaway-cluster.ts';
import { MIN_SCORE, PARTS, type Part } from './parts.ts';

type MutantResult = Awaited<ReturnType<Stryker['runMutationTest']>>[number];

const DETECTED = new Set(['Killed', 'Timeout']);
const UNDETECTED = new Set(['Survived', 'NoCoverage']);

const asked = process.argv.slice(2);
const names = asked.length === 0 ? Object.keys(PARTS) : asked;

// Uses one database server for all runs. Otherwise, each test process would start one.
const cluster = await startThrowawayCluster({ durability: 'none' });
process.env.DATABASE_URL = cluster.url;
try {
  for (const name of names) {
    const part = PARTS[name];
    if (part === undefined) throw new Error(`Unknown part ${name}. The parts are ${Object.keys(PARTS).join(', ')}.`);
    process.env.MUTATED_PART = name;
    const score = report(name, await mutate(name, part));
    if (!(score >= MIN_SCORE)) process.exitCode = 1;
  }
} finally {
  await cluster.stop();
}

function mutate(name: string, { mutate: files }: Part): Promise<MutantResult[]> {
  return new Stryker({
    testRunner: 'vitest',
    plugins: ['@stryker-mutator/vitest-runner'],
    vitest: { configFile: 'tests/mutation/vitest.config.ts', related: false },
    mutate: [...files, '!src/**/*.test.ts'],
    coverageAnalysis: 'perTest',
    concurrency: 2,
    // A mutant that times out counts as detected, so the timeout must be long enough for a busy machine.
    timeoutMS: 20_000,
    ignorePatterns: ['dist*', 'data', 'docs', 'bench/results', 'catalogue/pictures', 'coverage', 'test-results'],
    reporters: ['progress-append-only', 'json', 'html', 'clear-text'],
    clearTextReporter: {
      logTests: false,
      reportTests: false,
      reportMutants: false,
      allowEmojis: false,
      allowColor: false,
    },
    jsonReporter: { fileName: `coverage/mutation/${name}.json` },
    htmlReporter: { fileName: `coverage/mutation/${name}.html` },
    allowConsoleColors: false,
  }).runMutationTest();
}

/** Prints the undetected mutants. @returns the percentage of detected mutants; NaN if there are no mutants. */
function report(name: string, mutants: readonly MutantResult[]): number {
  const detected = mutants.filter(({ status }) => DETECTED.has(status)).length;
  const undetected = mutants.filter(({ status }) => UNDETECTED.has(status));
  for (const { fileName, location, mutatorName, replacement = '', status } of undetected) {
    const place = `${fileName}:${location.start.line}:${location.start.column}`;
    process.stdout.write(`${status} ${place} ${mutatorName}: ${replacement.split('\n', 1)[0]}\n`);
  }
  const score = (100 * detected) / (detected + undetected.length);
  process.stdout.write(`${name}: detected ${score.toFixed(1)}% of ${detected + undetected.length} mutants\n`);
  return score;
}
