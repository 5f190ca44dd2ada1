const BARS = '▁▂▃▄▅▆▇█';

/** One bar for each count, as high as its share of the highest; only a count of nothing has no bar. */
export function sparkline(counts: readonly number[]): string {
  const highest = Math.max(0, ...counts);
  return counts.map((count) => (count <= 0 ? ' ' : BARS[Math.ceil((count / highest) * BARS.length) - 1])).join('');
}
