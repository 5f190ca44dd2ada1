/**
 * Runs the checks and tests that must pass before a commit. A failed step does not stop the later ones. The summary
 * lists each failed test with the command that repeats it, and ends with the numbers of passed and failed tests.
 */
import { provideChromium } from './find-chromium.js';
import { runSuite } from './test/run-suite.js';
import { STEP_GROUPS } from './test/steps.js';
import { summarize } from './test/summary.js';

const BUDGET_SECONDS = 300;

const { results, seconds, isInterrupted } = await runSuite(STEP_GROUPS, { chromium: provideChromium(), show: true });
for (const line of summarize(results, seconds, BUDGET_SECONDS)) console.log(line);
const hasFailed = results.some(({ tests }) => tests.some(({ status }) => status === 'failed'));
process.exit(isInterrupted ? 130 : hasFailed ? 1 : 0);
