/** Runs a step in its own process group, so signals reach all of its processes. */
import { spawn } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { readReport } from './reports.js';

/** Options with which each runner prints its progress and writes a JSON report to a file. */
const REPORTERS = {
  vitest: (path) => ({ parameters: ['--reporter=default', '--reporter=json', `--outputFile.json=${path}`] }),
  playwright: (path) => ({
    parameters: [`--reporter=${process.stdout.isTTY ? 'line' : 'dot'},json`],
    environment: { PLAYWRIGHT_JSON_OUTPUT_FILE: path },
  }),
};

/**
 * @param {import('./steps.js').Step} step
 * @returns {{ exited: Promise<{ step: object, seconds: number, code: number, output: string, tests: import('./reports.js').TestResult[] }>, signal(name: string): void }}
 */
export function startStep(step, { folder, root, environment, isAlone }) {
  const began = performance.now();
  const reportPath = join(folder, `report-${step.program}.json`);
  const reporter = step.reports ? REPORTERS[step.reports](reportPath) : { parameters: [] };
  const child = spawn(
    step.program === 'node' ? process.execPath : step.program,
    [...step.parameters, ...reporter.parameters],
    {
      cwd: root,
      detached: true,
      env: { ...environment, ...reporter.environment },
      // The output of parallel steps would be interleaved, so it is buffered.
      stdio: ['ignore', isAlone ? 'inherit' : 'pipe', isAlone ? 'inherit' : 'pipe'],
    },
  );
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream?.setEncoding('utf8').on('data', (text) => (output += text));
  const exited = new Promise((resolve) => {
    child.on('error', (error) => {
      output += error.message;
      resolve(1);
    });
    child.on('close', (code) => resolve(code ?? 1));
  }).then((code) => ({
    step,
    seconds: (performance.now() - began) / 1000,
    code,
    output,
    tests: testsOf(step, code, output, reportPath, root),
  }));
  return {
    exited,
    signal(name) {
      try {
        if (child.pid !== undefined) process.kill(-child.pid, name);
      } catch {
        // All processes of the group have already exited.
      }
    },
  };
}

/**
 * A step without a runner counts as one test. If a runner reports no tests, or fails without a failed test, a failed
 * test is added for the step itself.
 */
function testsOf(step, code, output, reportPath, root) {
  const tests = step.reports && existsSync(reportPath) ? readReport(step.reports, reportPath, root) : [];
  rmSync(reportPath, { force: true });
  const hasFailed = tests.some(({ status }) => status === 'failed');
  if (hasFailed || (code === 0 && tests.length > 0)) return tests;
  const message = output.trim() || `The step exited with code ${code}. See its output above.`;
  const status = code === 0 && !step.reports ? 'passed' : 'failed';
  return [...tests, { name: step.name, file: '', milliseconds: 0, status, message, repeat: step.repeat }];
}
