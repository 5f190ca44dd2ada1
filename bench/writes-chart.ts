import type { WriteComparison } from './writes.ts';

const WIDTH = 760;
const LABEL_WIDTH = 205;
const BAR_HEIGHT = 16;
const ROW_HEIGHT = 64;
const TOP = 62;
const BARS_WIDTH = WIDTH - LABEL_WIDTH - 190;

/** Requests a second, two bars a workload, on a ground of its own so that it reads in a dark page too. */
export function drawWrites(workloads: Readonly<Record<string, WriteComparison>>): string {
  const rows = Object.entries(workloads);
  const fastest = Math.max(
    ...rows.flatMap(([, { groundswell, oneTransaction }]) => [
      groundswell.perSecond.median,
      oneTransaction.perSecond.median,
    ]),
  );
  const height = TOP + rows.length * ROW_HEIGHT + 8;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-label="Writes per second over HTTP" font-family="system-ui, sans-serif" font-size="13">
<rect width="${WIDTH}" height="${height}" rx="8" fill="#fff"/>
<text x="20" y="26" font-size="15" font-weight="600" fill="#111827">Writes per second over HTTP (median of the rounds)</text>
<rect x="20" y="38" width="12" height="12" rx="2" fill="#4f46e5"/><text x="38" y="48" fill="#374151">Groundswell</text>
<rect x="140" y="38" width="12" height="12" rx="2" fill="#9ca3af"/><text x="158" y="48" fill="#374151">one transaction per request</text>
${rows.map(([name, comparison], index) => drawRow(name, comparison, TOP + index * ROW_HEIGHT, fastest)).join('\n')}
</svg>
`;
}

function drawRow(name: string, comparison: WriteComparison, top: number, fastest: number): string {
  const { groundswell, oneTransaction, throughputRatio } = comparison;
  return [
    `<text x="20" y="${top + 30}" fill="#111827">${name}</text>`,
    drawBar(groundswell.perSecond.median, top + 8, fastest, '#4f46e5', ` (${throughputRatio.median.toFixed(1)} ×)`),
    drawBar(oneTransaction.perSecond.median, top + 12 + BAR_HEIGHT, fastest, '#9ca3af', ''),
  ].join('\n');
}

function drawBar(perSecond: number, y: number, fastest: number, colour: string, note: string): string {
  const width = Math.max(2, Math.round((perSecond / fastest) * BARS_WIDTH));
  const label = `${Math.round(perSecond).toLocaleString('en')}${note}`;
  return `<rect x="${LABEL_WIDTH}" y="${y}" width="${width}" height="${BAR_HEIGHT}" rx="3" fill="${colour}"/><text x="${LABEL_WIDTH + width + 8}" y="${y + 13}" fill="#374151">${label}</text>`;
}
