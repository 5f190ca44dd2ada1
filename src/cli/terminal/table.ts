import stringWidth from 'string-width';
import { oneLine } from '../one-line.ts';
import type { Style } from './style.ts';

export interface Column {
  title: string;
  align?: 'left' | 'right';
  /** May be cut where the terminal is too narrow; other columns are shown whole. */
  shrinks?: boolean;
  colour?: Parameters<Style>[0];
}

export interface TableOptions {
  /** Columns of the terminal; unset: nothing is cut, for a file or another program. */
  width?: number | undefined;
  style: Style;
}

const GAP = '  ';

/** A column is not cut below this: better a line that wraps than one that says nothing. */
const MIN_WIDTH = 8;

/**
 * Rows as lines of aligned columns under a line of titles. Any text may stand in a cell: it is made one line first, and counted
 * as wide as a terminal shows it, where a character of Chinese takes two columns and an accent none.
 */
export function formatTable(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  { width, style }: TableOptions,
): string[] {
  const cells = rows.map((row) => row.map(oneLine));
  const natural = columns.map(({ title }, index) =>
    Math.max(stringWidth(title), ...cells.map((row) => stringWidth(row[index] ?? ''))),
  );
  const widths = width === undefined ? natural : fitWidths(columns, natural, width);
  const line = (row: readonly string[], colourOf: (column: Column) => Column['colour']) =>
    columns
      .map((column, index) => {
        const isLast = index === columns.length - 1;
        const text = pad(cut(row[index] ?? '', widths[index] ?? 0), widths[index] ?? 0, column.align, isLast);
        const colour = colourOf(column);
        return colour === undefined ? text : style(colour, text);
      })
      .join(GAP)
      .trimEnd();
  return [
    line(
      columns.map(({ title }) => title),
      () => 'bold',
    ),
    ...cells.map((row) => line(row, ({ colour }) => colour)),
  ];
}

/** Takes what is too much from the widest of the columns that may shrink, until all fit or none can give any more. */
function fitWidths(columns: readonly Column[], natural: readonly number[], width: number): number[] {
  const widths = [...natural];
  let excess = widths.reduce((sum, each) => sum + each, GAP.length * (columns.length - 1)) - width;
  while (excess > 0) {
    const shrinkable = columns.flatMap(({ shrinks }, index) =>
      shrinks && (widths[index] ?? 0) > MIN_WIDTH ? [index] : [],
    );
    const widest = shrinkable.reduce<number | undefined>(
      (best, index) => (best === undefined || (widths[index] ?? 0) > (widths[best] ?? 0) ? index : best),
      undefined,
    );
    if (widest === undefined) break;
    widths[widest] = (widths[widest] ?? 0) - 1;
    excess -= 1;
  }
  return widths;
}

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** The beginning of a text that is too wide, between two characters as a person sees them, and `…`. */
function cut(text: string, width: number): string {
  if (stringWidth(text) <= width) return text;
  let kept = '';
  let used = 1;
  for (const { segment } of graphemes.segment(text)) {
    used += stringWidth(segment);
    if (used > width) break;
    kept += segment;
  }
  return `${kept}…`;
}

function pad(text: string, width: number, align: Column['align'], isLast: boolean): string {
  const spaces = ' '.repeat(Math.max(0, width - stringWidth(text)));
  if (align === 'right') return spaces + text;
  return isLast ? text : text + spaces;
}
