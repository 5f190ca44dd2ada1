export interface BarRow {
  name: string;
  /** One value per series, in order. */
  values: readonly number[];
  note?: string;
}

export interface BarChart {
  title: string;
  series: readonly { name: string; colour: string }[];
  rows: readonly BarRow[];
  format(value: number): string;
  /** Use 'log' if values differ by orders of magnitude. */
  scale: 'linear' | 'log';
}

export const COLOURS = { ours: '#4f46e5', other: '#9ca3af' } as const;

const WIDTH = 760;
const LABEL_WIDTH = 230;
const BARS_WIDTH = WIDTH - LABEL_WIDTH - 170;
const TOP = 62;
const BAR_HEIGHT = 13;
const GAP = 3;

/**
 * Draws horizontal bars, one per series in each row. The background is opaque, so the chart is readable on dark pages.
 */
export function drawBars(chart: BarChart): string {
  const { title, series, rows } = chart;
  const rowHeight = series.length * (BAR_HEIGHT + GAP) + 14;
  const height = TOP + rows.length * rowHeight + 8;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-label="${escaped(title)}" font-family="system-ui, sans-serif" font-size="13">
<rect width="${WIDTH}" height="${height}" rx="8" fill="#fff"/>
<text x="20" y="26" font-size="15" font-weight="600" fill="#111827">${escaped(title)}</text>
${drawLegend(series)}
${rows.map((row, index) => drawRow(chart, row, TOP + index * rowHeight)).join('\n')}
</svg>
`;
}

function drawLegend(series: BarChart['series']): string {
  let left = 20;
  return series
    .map(({ name, colour }) => {
      const x = left;
      left += 36 + name.length * 8;
      return `<rect x="${x}" y="38" width="12" height="12" rx="2" fill="${colour}"/><text x="${x + 18}" y="48" fill="#374151">${escaped(name)}</text>`;
    })
    .join('');
}

function drawRow(chart: BarChart, { name, values, note = '' }: BarRow, top: number): string {
  const middle = top + (values.length * (BAR_HEIGHT + GAP)) / 2 + 9;
  const bars = values.map((value, index) => {
    const y = top + 4 + index * (BAR_HEIGHT + GAP);
    const width = Math.max(2, Math.round(shareOfLongest(chart, value) * BARS_WIDTH));
    const label = `${chart.format(value)}${index === values.length - 1 && note ? ` ${note}` : ''}`;
    const colour = chart.series[index]?.colour ?? COLOURS.other;
    return `<rect x="${LABEL_WIDTH}" y="${y}" width="${width}" height="${BAR_HEIGHT}" rx="3" fill="${colour}"/><text x="${LABEL_WIDTH + width + 8}" y="${y + 11}" font-size="12" fill="#374151">${escaped(label)}</text>`;
  });
  return [`<text x="20" y="${middle}" fill="#111827">${escaped(name)}</text>`, ...bars].join('\n');
}

/** Returns the length of a bar as a share of the longest. A logarithmic scale begins at half the smallest value. */
function shareOfLongest({ rows, scale }: BarChart, value: number): number {
  const all = rows.flatMap((row) => row.values);
  const largest = Math.max(...all);
  if (scale === 'linear') return value / largest;
  const origin = Math.min(...all) / 2;
  return Math.log(value / origin) / Math.log(largest / origin);
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
