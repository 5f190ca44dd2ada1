import { COLOURS, drawBars } from './chart.ts';
import type { ClusterComparison } from './cluster.ts';

const SHADES = [COLOURS.other, COLOURS.ours, '#4338ca', '#312e81'];

/** Answers a second, one bar a way to serve. */
export function drawCluster(workloads: Readonly<Record<string, ClusterComparison>>): string {
  const names = Object.keys(Object.values(workloads)[0] ?? {});
  return drawBars({
    title: 'Answers per second of several processes (median of the rounds)',
    series: names.map((name, index) => ({
      name,
      colour: index === names.length - 1 ? '#a5b4fc' : (SHADES[index] ?? COLOURS.ours),
    })),
    rows: Object.entries(workloads).map(([name, sides]) => {
      const measured = Object.values(sides);
      return {
        name,
        values: measured.map(({ perSecond }) => perSecond.median),
        note: `(${measured
          .slice(1)
          .map(({ timesOneProcess }) => `${timesOneProcess.median.toFixed(2)} ×`)
          .join(' and ')})`,
      };
    }),
    format: (value) => Math.round(value).toLocaleString('en'),
    scale: 'linear',
  });
}
