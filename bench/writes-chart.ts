import { COLOURS, drawBars } from './chart.ts';
import type { WriteComparison } from './writes.ts';

/** Requests a second, two bars a workload. */
export function drawWrites(workloads: Readonly<Record<string, WriteComparison>>): string {
  return drawBars({
    title: 'Writes per second over HTTP (median of the rounds)',
    series: [
      { name: 'Groundswell', colour: COLOURS.ours },
      { name: 'one transaction per request', colour: COLOURS.other },
    ],
    rows: Object.entries(workloads).map(([name, { groundswell, oneTransaction, throughputRatio }]) => ({
      name,
      values: [groundswell.perSecond.median, oneTransaction.perSecond.median],
      note: `(${throughputRatio.median.toFixed(1)} ×)`,
    })),
    format: (value) => Math.round(value).toLocaleString('en'),
    scale: 'linear',
  });
}
