import { COLOURS, drawBars } from './chart.ts';
import type { ReadComparison } from './reads.ts';

/** Requests a second, three bars a read. */
export function drawReads(reads: Readonly<Record<string, ReadComparison>>): string {
  return drawBars({
    title: 'Cached answers per second over HTTP (median of the rounds)',
    series: [
      { name: 'Groundswell', colour: COLOURS.ours },
      { name: 'Groundswell, 200 upvotes a second', colour: '#a5b4fc' },
      { name: 'bare Fastify, same bytes', colour: COLOURS.other },
    ],
    rows: Object.entries(reads).map(([name, { groundswell, underWrites, bare, ratios, ratiosUnderWrites }]) => ({
      name,
      values: [groundswell, underWrites, bare].map(({ perSecond }) => perSecond.median),
      note: `(${ratios.throughput.median} and ${ratiosUnderWrites.throughput.median} of it)`,
    })),
    format: (value) => Math.round(value).toLocaleString('en'),
    scale: 'linear',
  });
}
