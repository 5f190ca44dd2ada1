/**
 * Repeats the tests while `--hogs` busy loops load the processor, and records which tests fail and how often:
 * `npm run test:stress -- --runs 20 --hogs 4 [--only tests/cli]`
 *
 * Runs of the same commit, major version of Node.js, number of busy loops and selection of tests share one file.
 */
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { provideChromium } from './find-chromium.js';
import { ROOT, runSuite } from './test/run-suite.js';
import { STEP_GROUPS, stepsOnly } from './test/steps.js';

const RESULTS = join(ROOT, 'tests/stress/results');
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
const record = openRecord();

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
  record.runs.push(outcome);
  save(record);
  console.log(`Run ${run} of ${runs}: ${outcome.passed} passed, ${outcome.failed} failed in ${outcome.seconds} s`);
  for (const { name, file, message } of outcome.failures)
    console.log(`  ${file}: ${name}\n    ${message.split('\n')[0]}`);
}

const passed = record.runs.filter(({ failed }) => failed === 0).length;
console.log(
  `\n${passed} of ${record.runs.length} runs passed with ${hogs} busy loops at ${record.commit}: ${recordPath()}`,
);
for (const [name, count] of failuresByTest(record)) console.log(`  ${count} × ${name}`);
process.exit(passed === record.runs.length && record.runs.length > 0 ? 0 : 1);

function countOf(name) {
  const count = Number(values[name]);
  if (Number.isInteger(count) && count >= 0) return count;
  console.error(`--${name} must be a whole number of 0 or more, not '${values[name]}'.`);
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

function openRecord() {
  const head = {
    commit: commitOf(),
    node: process.version,
    cores: availableParallelism(),
    hogs,
    only: only ?? null,
    runs: [],
  };
  try {
    return { ...head, runs: JSON.parse(readFileSync(recordPath(head.commit), 'utf8')).runs };
  } catch (error) {
    if (error.code === 'ENOENT') return head;
    throw error;
  }
}

/** Returns the current commit, with the suffix `-changed` if there are uncommitted changes. */
function commitOf() {
  const git = (...parameters) => execFileSync('git', parameters, { cwd: ROOT, encoding: 'utf8' }).trim();
  const isClean = git('status', '--porcelain', '--', '.', ':!tests/stress/results') === '';
  return git('rev-parse', '--short=10', 'HEAD') + (isClean ? '' : '-changed');
}

function recordPath(commit = record.commit) {
  const selection = only === undefined ? '' : `-${only.replaceAll(/[^a-z0-9]+/gi, '-')}`;
  const major = process.versions.node.split('.')[0];
  return join(RESULTS, `${commit}-node-${major}-hogs-${hogs}${selection}.json`);
}

function save(contents) {
  mkdirSync(RESULTS, { recursive: true });
  writeFileSync(recordPath(), `${JSON.stringify(contents, null, 2)}\n`);
}

function failuresByTest({ runs: all }) {
  const counts = new Map();
  for (const { name, file } of all.flatMap(({ failures }) => failures)) {
    const key = `${file}: ${name}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return [...counts].toSorted(([, a], [, b]) => b - a);
}
