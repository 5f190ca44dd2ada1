/**
 * Repeats the tests while `--hogs` busy loops load the processor, and records which tests fail and how often:
 * `npm run test:stress -- --runs 20 --hogs 4 [--only tests/cli]`
 *
 * Adds a line to tests/stress/results.jsonl for each run, and counts earlier runs of the same commit, major version of
 * Node.js, number of busy loops and selection of tests.
 */
import { execFileSync, spawn } from 'node:child_process';
import { appendFileSync, existsSync, readFileSync, renameSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { provideChromium } from './find-chromium.js';
import { ROOT, runSuite } from './test/run-suite.js';
import { STEP_GROUPS, stepsOnly } from './test/steps.js';

const RESULTS = join(ROOT, 'tests/stress/results.jsonl');
/** A program that ends with this process, even if this process is killed. */
const BUSY_LOOP = `while (process.ppid === ${process.pid});`;

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '20' },
    hogs: { type: 'string', default: '2' },
    only: { type: 'string' },
  },
});
const runs = countOf('runs');
const hogs = countOf('hogs');
const { only } = values;
const chromium = provideChromium();
const head = { commit: commitOf(), node: process.version, cores: availableParallelism(), hogs, only: only ?? null };
const outcomes = earlierOutcomes();

for (let run = 1; run <= runs; run += 1) {
  const startedAt = new Date().toISOString();
  const busy = Array.from({ length: hogs }, () => spawn(process.execPath, ['-e', BUSY_LOOP], { stdio: 'ignore' }));
  const stopHogs = () => busy.forEach((child) => void child.kill('SIGKILL'));
  process.on('exit', stopHogs);
  const suite = await runSuite(only === undefined ? STEP_GROUPS : stepsOnly(only), { chromium, show: false });
  stopHogs();
  process.off('exit', stopHogs);
  if (suite.isInterrupted) break;
  const outcome = outcomeOf(suite, startedAt);
  outcomes.push(outcome);
  appendFileSync(RESULTS, `${JSON.stringify({ ...head, ...outcome })}\n`);
  console.log(`Run ${run} of ${runs}: ${outcome.passed} passed, ${outcome.failed} failed in ${outcome.seconds} s`);
  for (const { name, file, message } of outcome.failures)
    console.log(`  ${file}: ${name}\n    ${message.split('\n')[0]}`);
  if (outcome.failed > 0) preserveEvidence(startedAt);
}

const passed = outcomes.filter(({ failed }) => failed === 0).length;
console.log(`\n${passed} of ${outcomes.length} runs passed with ${hogs} busy loops at ${head.commit}: ${RESULTS}`);
for (const [name, count] of failuresByTest()) console.log(`  ${count} × ${name}`);
process.exit(passed === outcomes.length && outcomes.length > 0 ? 0 : 1);

function countOf(name) {
  const count = Number(values[name]);
  if (Number.isInteger(count) && count >= 0) return count;
  console.error(`--${name} must be a whole number, 0 or greater, not '${values[name]}'.`);
  process.exit(2);
}

function outcomeOf({ results, seconds }, startedAt) {
  const tests = results.flatMap((result) => result.tests);
  const failures = tests.filter(({ status }) => status === 'failed');
  return {
    startedAt,
    seconds: Math.round(seconds),
    steps: Object.fromEntries(results.map(({ step, seconds: each }) => [step.name, Math.round(each)])),
    passed: tests.filter(({ status }) => status === 'passed').length,
    failed: failures.length,
    failures: failures.map(({ name, file, message }) => ({
      name,
      file,
      message: message.replaceAll(`${ROOT}/`, '').slice(0, 2_000),
    })),
  };
}

/** Renames the folder with screenshots and contents of pages on which tests failed, because the next run deletes it. */
function preserveEvidence(startedAt) {
  const folder = join(ROOT, 'test-results');
  if (existsSync(folder)) renameSync(folder, `${folder}-${startedAt.replaceAll(':', '')}`);
}

/** Returns the recorded runs of the same commit, major version of Node.js, busy loops and selection. */
function earlierOutcomes() {
  const text = existsSync(RESULTS) ? readFileSync(RESULTS, 'utf8') : '';
  const lines = text.split('\n').filter((line) => line !== '');
  const recorded = lines.map((line) => JSON.parse(line));
  const major = (version) => version.split('.')[0];
  return recorded.filter(
    (run) =>
      run.commit === head.commit &&
      major(run.node) === major(head.node) &&
      run.hogs === head.hogs &&
      run.only === head.only,
  );
}

/** Returns the current commit, with the suffix `-changed` if there are uncommitted changes. */
function commitOf() {
  const git = (...parameters) => execFileSync('git', parameters, { cwd: ROOT, encoding: 'utf8' }).trim();
  const isClean = git('status', '--porcelain', '--', '.', ':!tests/stress/results.jsonl') === '';
  return git('rev-parse', '--short=10', 'HEAD') + (isClean ? '' : '-changed');
}

function failuresByTest() {
  const counts = new Map();
  for (const { name, file } of outcomes.flatMap(({ failures }) => failures)) {
    const key = `${file}: ${name}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return [...counts].toSorted(([, a], [, b]) => b - a);
}
