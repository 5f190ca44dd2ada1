import { COLOURS, drawBars } from './chart.ts';
import { writeResults } from './harness/results.ts';
import { type FlowResult, runLoad, runOpenLoad, type Target } from './harness/run-load.ts';
import { startSampleSite } from './harness/server-process.ts';
import { spreadOf, spreadsOf } from './harness/statistics.ts';
import type { BenchOptions } from './options.ts';

/**
 * Duration of the warm-up. V8 optimizes the code of a new process while the first pages are rendered, and only a warm
 * process is measured.
 */
const WARM_UP_S = 20;

/** Page requests and upvotes per second of each open loop. */
const RATES = [
  { name: '50 pages/s, 200 upvotes/s', pages: 50, upvotes: 200 },
  { name: '5 pages/s, 20 upvotes/s', pages: 5, upvotes: 20 },
] as const;

/** One reader who requests a page every 20 ms, or later if the previous response is not complete (a closed loop). */
const SINGLE_READER = { name: 'one reader, a page every 20 ms, 200 upvotes/s', pages: 50, upvotes: 200 } as const;

interface Measured {
  succeeded: number;
  /** The number of requests that were due, in an open loop. */
  due?: number;
  /** The number of requests that were sent, in a closed loop. */
  sent?: number;
  p50Ms: number;
  p95Ms?: number;
  p99Ms: number;
}

/**
 * Measures the latency of pages while upvotes keep changing them: in open loops, from the time at which a request is
 * due, and in a closed loop. Requests rotate through the home page and the pages of the newest products. The upvotes
 * are for the same products.
 */
export async function openLoop({ rounds, seconds }: BenchOptions): Promise<void> {
  const site = await startSampleSite();
  try {
    const list = await fetch(`${site.address}/api/products`);
    const { items } = (await list.json()) as { items: { id: string }[] };
    const pages: Target[] = ['/', ...items.map(({ id }) => `/product/${id}`)].map((path) => ({
      method: 'GET',
      path,
      acceptEncoding: 'br',
    }));
    const upvotes: Target[] = items.map(({ id }) => ({ method: 'PUT', path: `/api/products/${id}/upvote` }));
    const { address } = site;
    const measured = new Map<string, { pages: Measured[]; upvotes: FlowResult[] }>();
    const record = (name: string, page: Measured, upvote: FlowResult) => {
      const results = measured.get(name) ?? { pages: [], upvotes: [] };
      results.pages.push(page);
      results.upvotes.push(upvote);
      measured.set(name, results);
      console.log(`${name}: p50 ${page.p50Ms.toFixed(1)} ms, p99 ${page.p99Ms.toFixed(1)} ms`);
    };
    const flowsAt = (rate: Pick<(typeof RATES)[number], 'pages' | 'upvotes'>) => ({
      pages: { targets: pages, perSecond: rate.pages },
      upvotes: { targets: upvotes, perSecond: rate.upvotes },
    });
    await runOpenLoad({ address, seconds: WARM_UP_S, flows: flowsAt(RATES[0]) });
    for (let round = 1; round <= rounds; round += 1) {
      for (const { name, ...rate } of RATES) {
        const { pages: page, upvotes: upvote } = await runOpenLoad({ address, seconds, flows: flowsAt(rate) });
        if (page !== undefined && upvote !== undefined) record(name, page, upvote);
      }
      const { name, ...rate } = SINGLE_READER;
      const [page, { upvotes: upvote }] = await Promise.all([
        runLoad({ address, seconds, connections: 1, targets: pages, maxPerSecond: rate.pages }),
        runOpenLoad({
          address,
          seconds: seconds + 1,
          flows: { upvotes: { targets: upvotes, perSecond: rate.upvotes } },
        }),
      ]);
      if (upvote !== undefined) record(name, page, upvote);
    }
    const results = Object.fromEntries([...measured].map(([name, sides]) => [name, summary(sides)]));
    await writeResults('open-loop', { rounds, seconds, products: items.length, results }, draw(results));
  } finally {
    await site.stop();
  }
}

function summary({ pages, upvotes }: { pages: readonly Measured[]; upvotes: readonly FlowResult[] }) {
  const failed = (results: readonly Measured[]) =>
    results.reduce((sum, { due, sent = 0, succeeded }) => sum + (due ?? sent) - succeeded, 0);
  return {
    pages: {
      failed: failed(pages),
      p50Ms: spreadOf(pages.map(({ p50Ms }) => p50Ms)),
      ...(pages[0]?.p95Ms === undefined ? {} : { p95Ms: spreadOf(pages.map(({ p95Ms = Number.NaN }) => p95Ms)) }),
      p99Ms: spreadOf(pages.map(({ p99Ms }) => p99Ms)),
    },
    upvotes: { failed: failed(upvotes), ...spreadsOf(upvotes, ['p50Ms', 'p95Ms', 'p99Ms']) },
  };
}

function draw(results: Readonly<Record<string, ReturnType<typeof summary>>>): string {
  return drawBars({
    title: 'Time to a page while upvotes change it, from when it was due',
    series: [
      { name: 'p50', colour: COLOURS.ours },
      { name: 'p99', colour: COLOURS.other },
    ],
    rows: Object.entries(results).map(([name, { pages }]) => ({
      name,
      values: [pages.p50Ms.median, pages.p99Ms.median],
    })),
    format: (ms) => `${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms`,
    scale: 'log',
  });
}
