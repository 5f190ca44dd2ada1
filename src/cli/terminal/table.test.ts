import stringWidth from 'string-width';
import { expect, test } from 'vitest';
import { sparkline } from './sparkline.ts';
import { styleFor } from './style.ts';
import { formatTable } from './table.ts';

const plain = styleFor({ isTTY: false }, {});
const COLUMNS = [
  { title: 'id' },
  { title: 'name', shrinks: true },
  { title: 'upvotes', align: 'right' as const },
  { title: 'text', shrinks: true },
];

test('columns are aligned by what a terminal shows, whatever the script', () => {
  const rows = [
    ['a', '東京タワー', '7', 'plain'],
    ['bcd', 'Ze\u0301 \u{1f680}', '1,234', 'x'],
    ['e', 'मराठी', '0', ''],
  ];
  const lines = formatTable(COLUMNS, rows, { style: plain });
  expect(lines[0]).toBe('id   name        upvotes  text');
  expect(lines[1]).toBe('a    東京タワー        7  plain');
  // Both counts end in the same column of the screen.
  const before = lines.slice(1, 3).map((line) => stringWidth(line.slice(0, line.search(/7 {2}plain|1,234/))));
  expect(before).toEqual([23, 19]);
});

test.each([120, 80, 60, 45])('in a terminal of %i columns no line is wider', (width) => {
  const rows = Array.from({ length: 20 }, (_, index) => [
    `p-${index}`,
    '非常に長い名前'.repeat(index + 1),
    `${index ** 5}`,
    `${'👩‍👩‍👧‍👦 e\u0301'.repeat(20)} end`,
  ]);
  const lines = formatTable(COLUMNS, rows, { width, style: plain });
  expect(Math.max(...lines.map((line) => stringWidth(line)))).toBeLessThanOrEqual(width);
  expect(lines.slice(1).every((line) => line.includes('…'))).toBe(true);
  for (const line of lines) expect(line.isWellFormed()).toBe(true);
});

test('what may not shrink stays whole, in a terminal of any width', () => {
  const id = 'an-id-that-somebody-will-copy-into-the-next-command';
  expect(formatTable(COLUMNS, [[id, 'name', '1', 'text']], { width: 20, style: plain })[1]).toContain(id);
});

test('without a terminal nothing is cut', () => {
  const text = 'x'.repeat(5_000);
  expect(formatTable(COLUMNS, [['a', text, '1', text]], { style: plain })[1]).toContain(text);
});

test('no text acts on the terminal', () => {
  const hostile = '\u001b[2J\u001b]0;title\u0007\r\nrm -rf\u202e\u0008\u009b31m';
  const lines = formatTable(COLUMNS, [['a', hostile, '1', hostile]], { style: plain });
  expect(lines).toHaveLength(2);
  expect(lines.join('')).not.toMatch(/[\p{Cc}\p{Cf}]/u);
});

test('colours: on a terminal alone, and not where NO_COLOR or TERM forbids them', () => {
  const coloured = styleFor({ isTTY: true }, {});
  const [titles = '', row = ''] = formatTable([{ title: 'id', colour: 'dim' }], [['a']], { style: coloured });
  expect(titles).toBe('\u001b[1mid\u001b[22m');
  expect(row).toBe('\u001b[2ma\u001b[22m');
  for (const style of [
    plain,
    styleFor({ isTTY: true }, { NO_COLOR: '1' }),
    styleFor({ isTTY: true }, { TERM: 'dumb' }),
  ])
    expect(formatTable([{ title: 'id', colour: 'dim' }], [['a']], { style })).toEqual(['id', 'a']);
});

test('a sparkline shows each count in proportion, and the smallest as well', () => {
  expect(sparkline([0, 1, 4, 8, 800])).toBe(' ▁▁▁█');
  expect(sparkline([1, 2, 3, 4, 5, 6, 7, 8])).toBe('▁▂▃▄▅▆▇█');
  expect(sparkline([5, 5])).toBe('██');
  expect(sparkline([0, 0])).toBe('  ');
  expect(sparkline([])).toBe('');
});
