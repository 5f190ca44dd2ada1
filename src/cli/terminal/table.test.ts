import stringWidth from 'string-width';
import { expect, test, vi } from 'vitest';
import { sparkline } from '../commands/stats.ts';
import type { Span } from './output.ts';
import { cut, formatTable, printTable, printWithLead, wrap } from './table.ts';

const plainText = (line: readonly Span[]) => line.map((span) => (typeof span === 'string' ? span : span[1])).join('');

function linesOf(...parameters: Parameters<typeof formatTable>): string[] {
  return formatTable(...parameters).map(plainText);
}

const COLUMNS = [
  { title: 'id' },
  { title: 'name', shrinks: true },
  { title: 'upvotes', align: 'right' as const },
  { title: 'text', shrinks: true },
];

test('columns are aligned by their width on a terminal, in any script', () => {
  const rows = [
    ['a', '東京タワー', '7', 'plain'],
    ['bcd', 'Ze\u0301 \u{1f680}', '1,234', 'x'],
    ['e', 'मराठी', '0', ''],
  ];
  const lines = linesOf(COLUMNS, rows, undefined);
  expect(lines[0]).toBe('id   name        upvotes  text');
  expect(lines[1]).toBe('a    東京タワー        7  plain');
  // Both counts end in the same column of the screen.
  const before = lines.slice(1, 3).map((line) => stringWidth(line.slice(0, line.search(/7 {2}plain|1,234/))));
  expect(before).toEqual([23, 19]);
});

test.each([120, 80, 60, 45])('no line is wider than a terminal of %i columns', (width) => {
  const rows = Array.from({ length: 20 }, (_, index) => [
    `p-${index}`,
    '非常に長い名前'.repeat(index + 1),
    `${index ** 5}`,
    `${'👩‍👩‍👧‍👦 e\u0301'.repeat(20)} end`,
  ]);
  const lines = linesOf(COLUMNS, rows, width);
  expect(Math.max(...lines.map((line) => stringWidth(line)))).toBeLessThanOrEqual(width);
  expect(lines.slice(1).every((line) => line.includes('…'))).toBe(true);
  for (const line of lines) expect(line.isWellFormed()).toBe(true);
});

test('columns that must not shrink are shown completely even in a narrow terminal', () => {
  const id = 'an-id-that-somebody-will-copy-into-the-next-command';
  expect(linesOf(COLUMNS, [[id, 'name', '1', 'text']], 20)[1]).toContain(id);
});

test('cells are not truncated if the output is not a terminal', () => {
  const text = 'x'.repeat(5_000);
  expect(linesOf(COLUMNS, [['a', text, '1', text]], undefined)[1]).toContain(text);
});

test('control characters in cells do not reach the terminal', () => {
  const hostile = '\u001b[2J\u001b]0;title\u0007\r\nrm -rf\u202e\u0008\u009b31m';
  const lines = linesOf(COLUMNS, [['a', hostile, '1', hostile]], undefined);
  expect(lines).toHaveLength(2);
  expect(lines.join('')).not.toMatch(/[\p{Cc}\p{Cf}]/u);
});

test('titles are bold, and cells have the style of their column', () => {
  expect(formatTable([{ title: 'id', style: 'dim' }], [['a']], undefined)).toEqual([[['bold', 'id']], [['dim', 'a']]]);
});

test('a long cell wraps within its column, up to the maximum number of lines', () => {
  const columns = [{ title: 'ID' }, { title: 'TEXT', shrinks: true, lines: 3 }];
  const text = 'one two three four five six seven eight nine ten';
  expect(
    linesOf(
      columns,
      [
        ['a', text],
        ['b', 'short'],
      ],
      16,
    ),
  ).toEqual(['ID  TEXT', 'a   one two', '    three four', '    five six se…', 'b   short']);
});

test('the bars of a sparkline are scaled to the highest count, and only zero has no bar', () => {
  expect(sparkline([0, 1, 4, 8, 800])).toBe(' ▁▁▁█');
  expect(sparkline([1, 2, 3, 4, 5, 6, 7, 8])).toBe('▁▂▃▄▅▆▇█');
  expect(sparkline([5, 5])).toBe('██');
  expect(sparkline([0, 0])).toBe('  ');
  expect(sparkline([])).toBe('');
});

test('a text that is too wide for a line is wrapped between words', () => {
  expect(wrap('the quick brown fox', 9)).toEqual(['the quick', 'brown fox']);
  expect(wrap('short', 80)).toEqual(['short']);
  expect(wrap('', 80)).toEqual(['']);
});

test('a word wider than a line is split between characters', () => {
  expect(wrap('https://launches.example/a', 10)).toEqual(['https://la', 'unches.exa', 'mple/a']);
  expect(wrap('a 東京タワー', 5)).toEqual(['a', '東京', 'タワ', 'ー']);
  const family = '👩‍👩‍👧‍👦'.repeat(9);
  for (const line of wrap(family, 7)) expect(stringWidth(line)).toBeLessThanOrEqual(7);
  expect(wrap(family, 7).join('')).toBe(family);
});

test('a character wider than a line is still printed, alone on its line', () => {
  expect(wrap('東京', 1)).toEqual(['東', '京']);
});

test('a truncated text, with its ellipsis, fits the given width', () => {
  expect(cut('four', 4)).toBe('four');
  expect(cut('fours', 4)).toBe('fou…');
  expect(stringWidth(cut('東京タワー', 6))).toBeLessThanOrEqual(6);
});

/** Runs `work` with a standard output of this kind. @returns the printed lines, without styles. */
function printedOn(output: { isTTY: boolean; columns: number }, work: () => void): string[] {
  const { isTTY, columns } = process.stdout;
  const written: string[] = [];
  const log = vi.spyOn(console, 'log').mockImplementation((line: string) => void written.push(line));
  Object.assign(process.stdout, output);
  try {
    work();
  } finally {
    Object.assign(process.stdout, { isTTY, columns });
    log.mockRestore();
  }
  // biome-ignore lint/suspicious/noControlCharactersInRegex: removes the escape sequences of the styles
  return written.map((line) => line.replaceAll(/\u001b\[\d+m/g, ''));
}

test.each([
  ['wraps below its start on a terminal', true, ['root hid a comment that', 'nobody wanted to read.']],
  ['stays on one line in a file', false, ['root hid a comment that nobody wanted to read.']],
])('a long sentence next to a time %s', (_, isTTY, expected) => {
  const printed = printedOn({ isTTY, columns: 31 }, () =>
    printWithLead(['dim', '23:31  '], 'root hid a comment that nobody wanted to read.'),
  );
  expect(printed).toEqual(expected.map((line, index) => (index === 0 ? '23:31  ' : '       ') + line));
});

test('on a terminal that reports a width of 0, text is neither truncated nor wrapped', () => {
  const text = 'root hid a comment that nobody wanted to read.';
  const printed = printedOn({ isTTY: true, columns: 0 }, () => {
    printTable([{ title: 'TEXT', shrinks: true }], [[text]]);
    printWithLead(['dim', '23:31  '], text);
  });
  expect(printed).toEqual(['TEXT', text, `23:31  ${text}`]);
});
