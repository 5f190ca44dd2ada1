import { mkdtemp, rm } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { COLOURS, drawBars } from './chart.ts';
import { writeResults } from './harness/results.ts';
import type { FlowResult } from './harness/run-load.ts';
import { LAUNCHES, type LaunchSite, openLaunchSite, PRODUCTS, type ResourceUse } from './launch-day/launch-site.ts';
import { operate } from './launch-day/operate.ts';
import { runVisitors } from './launch-day/run-visitors.ts';
import { launchDay, SPEEDUP } from './launch-day/visits.ts';

const PROCESSES = [1, 2] as const;
const SAMPLE_MS = 5_000;

/**
 * The search for the highest rate begins with `from`. It multiplies or divides the rate by `factor` until one rate is
 * good and another is bad, then bisects between them.
 */
const STEPS = { from: 20, factor: 1.6, halvings: 2 } as const;
const STEP_WARM_UP_SECONDS = 6;
const PAGES_P99_TARGET_MS = 100;
const FULL = { seconds: 300, perSecond: 4, stepSeconds: 7, maxSteps: 7 };
const QUICK = { seconds: 30, perSecond: 2, stepSeconds: 3, maxSteps: 3 };

type Options = typeof FULL;
type Day = Awaited<ReturnType<typeof measureDay>>;

/**
 * `npm run bench -- launch-day [--quick] [--per-second=N]`: simulates an hour of a launch day in five minutes, on the
 * embedded database, with one process and with two, then finds the highest rate of arrivals at which pages are fast.
 * `--quick` is a short trial run that records nothing. `--per-second` is the rate of arrivals outside the burst.
 */
export async function launchDays(flags: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...flags],
    options: { quick: { type: 'boolean', default: false }, 'per-second': { type: 'string' } },
  });
  const defaults = values.quick ? QUICK : FULL;
  const options = { ...defaults, perSecond: Number(values['per-second'] ?? defaults.perSecond) };
  const folder = await mkdtemp(join(tmpdir(), 'groundswell-bench-'));
  const days: Record<string, Day & { highestRate: HighestRate }> = {};
  try {
    for (const processes of PROCESSES) {
      const site = await openLaunchSite(folder, processes);
      try {
        const name = processes === 1 ? 'one process' : `${processes} processes`;
        const day = await measureDay(site, options);
        console.log(`${name}: ${describe(day)}`);
        days[name] = { ...day, highestRate: await findHighestRate(site, options) };
      } finally {
        await site.stop();
      }
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  const results = {
    ...options,
    timesFaster: SPEEDUP,
    products: PRODUCTS,
    launches: LAUNCHES,
    load: loadavg(),
    days,
  };
  if (values.quick) console.log(JSON.stringify(results, undefined, 2));
  else await writeResults('launch-day', results, draw(days));
}

async function measureDay(site: LaunchSite, { seconds, perSecond }: Options) {
  const { catalogue, server } = site;
  const memory: ResourceUse = { site: 0, database: 0 };
  const watch = setInterval(async () => {
    const now = await site.memoryMb();
    memory.site = Math.max(memory.site, now.site);
    memory.database = Math.max(memory.database, now.database);
  }, SAMPLE_MS);
  const before = await site.cpuMs();
  const [report, operator] = await Promise.all([
    runVisitors({ address: server.address, phases: launchDay(perSecond, seconds), catalogue, seed: 1 }),
    operate(site, seconds),
  ]);
  const after = await site.cpuMs();
  clearInterval(watch);
  const { visitors, acknowledged, pages, maxStreams, brokenStreams } = report;
  const actions = { ...report.actions, moderation: operator.moderation };
  const missing = await site.missing(acknowledged);
  // Milliseconds per visitor equal seconds per 1,000 visitors.
  const per1000 = (of: keyof ResourceUse) => round((after[of] - before[of]) / visitors);
  return {
    visitors,
    failed: failedOf(actions),
    acknowledged: { upvotes: acknowledged.upvotes.length, comments: acknowledged.commentIds.length },
    lostWrites: missing.upvotes + missing.comments,
    wrongCounts: missing.wrongCounts,
    cpuSecondsPer1000Visitors: { site: per1000('site'), database: per1000('database') },
    peakMemoryMb: memory,
    streams: { most: maxStreams, broken: brokenStreams },
    imports: operator.imports,
    pages: rounded(pages),
    actions: rounded(actions),
  };
}

interface HighestRate {
  /** The highest rate in visitors per second that met the target, or 0 if none did. */
  perSecond: number;
  steps: { perSecond: number; pagesP99Ms: number; failed: number; siteCpuSecondsPer1000Visitors: number }[];
}

/**
 * Tries constant rates, each for several seconds. @returns the highest rate at which the p99 of pages is below the
 * target and no request fails.
 */
async function findHighestRate(site: LaunchSite, { stepSeconds, maxSteps }: Options): Promise<HighestRate> {
  const steps: HighestRate['steps'] = [];
  let [good, bad] = [0, Number.POSITIVE_INFINITY];
  let perSecond: number = STEPS.from;
  for (let halvings = 0; steps.length < maxSteps && halvings <= STEPS.halvings; ) {
    const before = await site.cpuMs();
    const { actions, pages, visitors } = await runVisitors({
      address: site.server.address,
      phases: [{ name: 'even', perSecond, seconds: STEP_WARM_UP_SECONDS + stepSeconds }],
      catalogue: site.catalogue,
      seed: 2 + steps.length,
      warmUpSeconds: STEP_WARM_UP_SECONDS,
    });
    const siteCpuSecondsPer1000Visitors = round(((await site.cpuMs()).site - before.site) / visitors);
    const failed = failedOf(actions);
    const pagesP99Ms = round(pages.even?.p99Ms ?? Number.NaN);
    steps.push({ perSecond, pagesP99Ms, failed, siteCpuSecondsPer1000Visitors });
    console.log(`${perSecond} visitors/s: p99 of pages ${pagesP99Ms} ms, ${failed} failed`);
    if (pagesP99Ms < PAGES_P99_TARGET_MS && failed === 0) good = perSecond;
    else bad = perSecond;
    const isBetween = good > 0 && bad < Number.POSITIVE_INFINITY;
    if (isBetween) halvings += 1;
    const next = good > 0 ? good * STEPS.factor : bad / STEPS.factor;
    perSecond = Math.round(isBetween ? Math.sqrt(good * bad) : next);
  }
  return { perSecond: good, steps };
}

function failedOf(flows: Readonly<Record<string, FlowResult>>): number {
  return Object.values(flows).reduce((sum, { due, succeeded }) => sum + due - succeeded, 0);
}

function rounded(flows: Readonly<Record<string, FlowResult>>) {
  return Object.fromEntries(
    Object.entries(flows).map(([name, { due, succeeded, statuses, p50Ms, p95Ms, p99Ms, maxMs }]) => {
      const times = { p50Ms: round(p50Ms), p95Ms: round(p95Ms), p99Ms: round(p99Ms), maxMs: round(maxMs) };
      return [name, { due, failed: due - succeeded, ...(succeeded < due && { statuses }), ...times }];
    }),
  );
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}

function describe({ visitors, failed, lostWrites, wrongCounts, pages, actions }: Day): string {
  const times = Object.entries({ ...withPrefix(pages), ...actions }).map(
    ([name, { p50Ms, p99Ms }]) => `${name} ${p50Ms}/${p99Ms} ms`,
  );
  return `${visitors} visitors, ${failed} failed, ${lostWrites} lost, ${wrongCounts} wrong counts; p50/p99: ${times.join(', ')}`;
}

/** Prefixes the names of phases with `pages`, so pages can be listed together with the actions. */
function withPrefix(pages: Day['pages']): Day['pages'] {
  return Object.fromEntries(Object.entries(pages).map(([phase, times]) => [`pages, ${phase}`, times]));
}

function draw(days: Readonly<Record<string, Day>>): string {
  const names = Object.keys(days);
  const colours = [COLOURS.ours, '#a5b4fc', '#4b5563', COLOURS.other];
  const times = Object.fromEntries(
    Object.entries(days).map(([name, { pages, actions }]) => [name, { ...withPrefix(pages), ...actions }]),
  );
  return drawBars({
    title: 'An hour of a launch day in five minutes: time of each action, from when it was due',
    series: names
      .flatMap((name) => [`p50, ${name}`, `p99, ${name}`])
      .map((name, index) => ({ name, colour: colours[index] ?? COLOURS.other })),
    rows: Object.keys(Object.values(times)[0] ?? {}).map((action) => ({
      name: action,
      values: names.flatMap((name) => {
        const { p50Ms = 0, p99Ms = 0 } = times[name]?.[action] ?? {};
        return [p50Ms, p99Ms];
      }),
    })),
    format: (ms) => `${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms`,
    scale: 'log',
  });
}
