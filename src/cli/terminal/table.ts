import stringWidth from 'string-width';
import { oneLine, print, type Span, type StyleName } from './output.ts';

export interface Column {
  title: string;
  align?: 'left' | 'right';
  /** Whether the column may be truncated if the terminal is too narrow; other columns are shown completely. */
  shrinks?: boolean;
  /** If set, text wraps onto at most this many lines before it is truncated. */
  lines?: number;
  style?: StyleName;
}

const GAP = '  ';

/** The minimum width of a truncated column. If the table is still too wide, the terminal wraps its lines. */
const MIN_WIDTH = 8;

/** Prints a table on standard output. Cells are truncated only to fit the width of a terminal. */
export function printTable(columns: readonly Column[], rows: readonly (readonly string[])[]): void {
  for (const line of formatTable(columns, rows, terminalWidth())) print(...line);
}

/** Returns the width in columns, or undefined if it is unknown: some terminals, such as serial ones, report 0. */
function terminalWidth(): number | undefined {
  return (process.stdout.isTTY && process.stdout.columns) || undefined;
}

const MIN_TEXT_WIDTH = 20;

/**
 * Prints a text to the right of a lead, such as a name. On a terminal, the text is wrapped and its further lines are
 * indented. In a file or pipe, lead and text are one line.
 */
export function printWithLead(lead: readonly [style: StyleName, text: string], text: string): void {
  const width = terminalWidth();
  const used = stringWidth(lead[1]);
  const line = oneLine(text);
  const lines = width === undefined ? [line] : wrap(line, Math.max(MIN_TEXT_WIDTH, width - used));
  for (const [index, each] of lines.entries()) print(index === 0 ? lead : ' '.repeat(used), each);
}

/**
 * Formats rows as aligned lines under a line of titles. Line feeds in cells are escaped. Widths are those on a
 * terminal, where a Chinese character takes two columns and a combining accent none.
 * @param width the terminal's width in columns. If undefined, as for files and other programs, nothing is truncated.
 */
export function formatTable(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  width: number | undefined,
): Span[][] {
  const cells = rows.map((row) => row.map(oneLine));
  const natural = columns.map(({ title }, index) =>
    Math.max(stringWidth(title), ...cells.map((row) => stringWidth(row[index] ?? ''))),
  );
  const widths = width === undefined ? natural : fitWidths(columns, natural, width);
  const line = (row: readonly string[], styleOf: (column: Column) => StyleName | undefined): Span[] => {
    const last = row.findLastIndex((text) => text !== '');
    return columns.slice(0, last + 1).flatMap((column, index): Span[] => {
      const text = pad(row[index] ?? '', widths[index] ?? 0, column.align, index === last);
      const style = styleOf(column);
      return [...(index === 0 ? [] : [GAP]), style === undefined ? text : [style, text]];
    });
  };
  const linesOf = (row: readonly string[]): Span[][] => {
    const wrapped = columns.map(({ lines = 1 }, index) => wrapCell(row[index] ?? '', widths[index] ?? 0, lines));
    const height = Math.max(1, ...wrapped.map((each) => each.length));
    return Array.from({ length: height }, (_, index) =>
      line(
        wrapped.map((each) => each[index] ?? ''),
        ({ style }) => style,
      ),
    );
  };
  const titles = line(
    columns.map(({ title }) => title),
    () => 'bold',
  );
  return [titles, ...cells.flatMap(linesOf)];
}

/** Narrows the widest column that may shrink, until the table fits or no column can shrink further. */
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

function wrapCell(text: string, width: number, lines: number): string[] {
  if (lines === 1) return [cut(text, width)];
  const wrapped = wrap(text, width);
  if (wrapped.length <= lines) return wrapped;
  return [...wrapped.slice(0, lines - 1), cut(wrapped.slice(lines - 1).join(' '), width)];
}

function pad(text: string, width: number, align: Column['align'], isLast: boolean): string {
  const spaces = ' '.repeat(Math.max(0, width - stringWidth(text)));
  if (align === 'right') return spaces + text;
  return isLast ? text : text + spaces;
}

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** Truncates text that is too wide and appends `…`. Never splits a grapheme cluster. */
export function cut(text: string, width: number): string {
  return stringWidth(text) <= width ? text : `${head(text, width - 1)}…`;
}

/** Breaks text into lines of at most `width` columns, between words or within a word that is too wide for a line. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (stringWidth(longer) <= width) {
      line = longer;
      continue;
    }
    if (line !== '') lines.push(line);
    line = word;
    while (stringWidth(line) > width) {
      const start = head(line, width);
      lines.push(start);
      line = line.slice(start.length);
    }
  }
  return line === '' && lines.length > 0 ? lines : [...lines, line];
}

/** Returns the longest prefix of the text that fits, but at least one character. */
function head(text: string, width: number): string {
  let taken = '';
  let used = 0;
  for (const { segment } of graphemes.segment(text)) {
    used += stringWidth(segment);
    if (used > width && taken !== '') break;
    taken += segment;
    if (used > width) break;
  }
  return taken;
}
