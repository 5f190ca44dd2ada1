import { parseArgs } from 'node:util';
import { launch } from 'chrome-launcher';
import lighthouse, { type Result } from 'lighthouse';
import { requireChromium } from '../scripts/find-chromium.js';
import { writeResults } from './harness/results.ts';
import { startSampleSite } from './harness/server-process.ts';
import { type Spread, spreadOf } from './harness/statistics.ts';

const RUNS = 5;
const ATTEMPTS = 3;
const PAGES: Record<string, string> = { 'home page': '/', 'product page': '/product/git' };
const CATEGORIES = ['performance', 'accessibility', 'best-practices', 'seo'];
const AUDITS: Record<string, string> = {
  firstContentfulPaintMs: 'first-contentful-paint',
  largestContentfulPaintMs: 'largest-contentful-paint',
  totalBlockingTimeMs: 'total-blocking-time',
  cumulativeLayoutShift: 'cumulative-layout-shift',
};

interface PageReport {
  /** Scores from 0 to 100. */
  scores: Record<string, Spread>;
  measures: Record<string, Spread>;
  /** Kilobytes transferred in the last run, by type of resource. */
  kilobytes: Record<string, number>;
  /** The audits that did not get the full score in the last run. */
  notPassed: string[];
}

/** Measures the transfer size and Lighthouse scores of pages, emulating the network and CPU of a mid-range phone. */
export async function lighthouseScores(flags: readonly string[]): Promise<void> {
  parseArgs({ args: [...flags], options: {} });
  const site = await startSampleSite();
  try {
    const pages: Record<string, PageReport> = {};
    for (const [name, path] of Object.entries(PAGES)) {
      const results: Result[] = [];
      for (let run = 1; run <= RUNS; run += 1) {
        const result = await runWithRetries(`${site.address}${path}`);
        results.push(result);
        console.log(`${name}, run ${run}: ${CATEGORIES.map((category) => scoreOf(result, category)).join(' / ')}`);
      }
      pages[name] = report(results);
    }
    await writeResults('lighthouse', { runs: RUNS, formFactor: 'mobile', pages });
  } finally {
    await site.stop();
  }
}

/** Runs Lighthouse, and retries after a runtime error: Chromium sometimes starts its trace too late (`NO_NAVSTART`). */
async function runWithRetries(url: string): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    const result = await runLighthouse(url);
    if (result.runtimeError === undefined) return result;
    console.warn(`Lighthouse failed: ${result.runtimeError.message}`);
    if (attempt === ATTEMPTS) throw new Error(result.runtimeError.message);
  }
}

async function runLighthouse(url: string): Promise<Result> {
  const chromeFlags = ['--headless=new', '--disable-gpu', '--disable-dev-shm-usage'];
  if (process.getuid?.() === 0) chromeFlags.push('--no-sandbox');
  const chrome = await launch({ chromePath: requireChromium(), chromeFlags });
  try {
    const run = await lighthouse(url, { port: chrome.port, logLevel: 'error', onlyCategories: CATEGORIES });
    if (run === undefined) throw new Error(`Lighthouse returned no result for ${url}`);
    return run.lhr;
  } finally {
    chrome.kill();
  }
}

function report(results: readonly Result[]): PageReport {
  const last = results.at(-1);
  if (last === undefined) throw new Error('Lighthouse returned no results');
  return {
    scores: Object.fromEntries(
      CATEGORIES.map((category) => [category, spreadOf(results.map((result) => scoreOf(result, category)))]),
    ),
    measures: Object.fromEntries(
      Object.entries(AUDITS).map(([name, audit]) => [
        name,
        spreadOf(results.map(({ audits }) => audits[audit]?.numericValue ?? Number.NaN)),
      ]),
    ),
    kilobytes: kilobytesOf(last),
    notPassed: Object.values(last.audits)
      .filter(({ score }) => score !== null && score < 1)
      .map(({ id, score, displayValue = '' }) => `${id} ${score} ${displayValue}`.trim()),
  };
}

function scoreOf({ categories }: Result, category: string): number {
  return Math.round((categories[category]?.score ?? Number.NaN) * 100);
}

/** Returns the kilobytes transferred, by type of resource. */
function kilobytesOf({ audits }: Result): Record<string, number> {
  const details = audits['network-requests']?.details;
  const items = details?.type === 'table' ? details.items : [];
  const totals: Record<string, number> = {};
  for (const { resourceType, transferSize } of items) {
    const kind = String(resourceType).toLowerCase();
    totals[kind] = (totals[kind] ?? 0) + Number(transferSize) / 1024;
  }
  return Object.fromEntries(Object.entries(totals).map(([kind, size]) => [kind, Math.round(size * 10) / 10]));
}
