/** Runs groups of steps in a temporary folder, then terminates all remaining processes and removes the folder. */
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createRunFolder, leftovers, removeRunFolder } from './run-folder.js';
import { startStep } from './run-step.js';

export const ROOT = join(dirname(fileURLToPath(import.meta.url)), '../..');

/** Maximum number of steps of a group that run in parallel. */
const MAX_PARALLEL_STEPS = 2;
const INTERRUPT_GRACE_MS = 5_000;
/** Ctrl-C in a terminal causes two signals, because npm forwards the one that it receives. */
const SAME_INTERRUPT_MS = 500;

/**
 * @param {import('./steps.js').Step[][]} groups
 * @param {{ chromium: string | undefined, show: boolean }} options `show`: whether to print the output of the steps.
 */
export async function runSuite(groups, { chromium, show }) {
  const began = performance.now();
  /** @type {Set<ReturnType<typeof startStep>>} */
  const running = new Set();
  let isInterrupted = false;
  let ignoredUntil = 0;

  /** The first signal asks the steps to exit. They are killed after a later signal or a grace period. */
  function interrupt() {
    if (performance.now() < ignoredUntil) return;
    ignoredUntil = performance.now() + SAME_INTERRUPT_MS;
    for (const step of running) step.signal(isInterrupted ? 'SIGKILL' : 'SIGINT');
    if (!isInterrupted) setTimeout(interrupt, INTERRUPT_GRACE_MS).unref();
    isInterrupted = true;
  }

  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'];
  for (const signal of signals) process.on(signal, interrupt);
  const folder = await createRunFolder();
  const environment = {
    ...process.env,
    ...(chromium && { CHROMIUM_PATH: chromium }),
    TMPDIR: folder,
    // Steps use the Node.js of this process and find the project's programs, even if npm did not start the suite.
    PATH: [dirname(process.execPath), join(ROOT, 'node_modules/.bin'), process.env.PATH].join(delimiter),
  };

  async function runGroup(group) {
    const waiting = [...group];
    const finished = [];
    const work = async () => {
      for (let step = waiting.shift(); step && !isInterrupted; step = waiting.shift()) {
        const isAlone = show && group.length === 1;
        if (isAlone) console.log(`\n${step.name}`);
        const run = startStep(step, { folder, root: ROOT, environment, isAlone });
        running.add(run);
        const result = await run.exited;
        running.delete(run);
        finished.push(result);
        if (show) printOutcome(result);
      }
    };
    await Promise.all(Array.from({ length: MAX_PARALLEL_STEPS }, work));
    return finished.toSorted((a, b) => group.indexOf(a.step) - group.indexOf(b.step));
  }

  const results = [];
  try {
    for (const group of groups) if (!isInterrupted) results.push(...(await runGroup(group)));
    if (!isInterrupted) results.push(leftBehind(folder));
  } finally {
    for (const step of running) step.signal('SIGKILL');
    await removeRunFolder(folder);
    for (const signal of signals) process.off(signal, interrupt);
  }
  return { results, seconds: (performance.now() - began) / 1000, isInterrupted };
}

function printOutcome({ step, code, output, seconds }) {
  if (code !== 0) console.log(output.trimEnd());
  console.log(`${step.name}: ${code === 0 ? 'passed' : 'FAILED'} in ${Math.round(seconds)} s`);
}

/** Tests must clean up: files or processes that remain in the temporary folder count as a failed test. */
function leftBehind(folder) {
  const { files, processes } = leftovers(folder);
  const left = [...files.map((name) => `folder or file ${name}`), ...processes.map((each) => `process ${each}`)];
  const step = { name: 'Nothing left behind', budgetSeconds: 1 };
  const test = { name: step.name, file: '', milliseconds: 0, repeat: 'npm test', message: left.join('\n') };
  return { step, seconds: 0, tests: [{ ...test, status: left.length === 0 ? 'passed' : 'failed' }] };
}
