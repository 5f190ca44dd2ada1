import { COLOURS, drawBars } from './chart.ts';
import type { Freshness } from './cluster/freshness.ts';

/** How long an upvote on one site takes to the other's answers, two bars each: in quiet, and while others upvote. */
export function drawCluster({ quiet, busy }: Readonly<Record<'quiet' | 'busy', Freshness>>): string {
  const seen = { API: 'api', page: 'page', stream: 'stream' } as const;
  return drawBars({
    title: 'From an upvote on one of two sites until the other one shows it',
    series: [
      { name: 'nothing else happens', colour: COLOURS.ours },
      { name: '200 other upvotes a second', colour: '#a5b4fc' },
    ],
    rows: Object.entries(seen).flatMap(([name, key]) => [
      { name: `${name}, half of all`, values: [quiet[key].p50Ms, busy[key].p50Ms] },
      { name: `${name}, 95 of 100`, values: [quiet[key].p95Ms, busy[key].p95Ms] },
    ]),
    format: (ms) => `${Math.round(ms)} ms`,
    scale: 'linear',
  });
}
