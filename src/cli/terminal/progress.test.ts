import { expect, test } from 'vitest';
import { startProgress } from './output.ts';

function terminal({ isTTY = true } = {}) {
  const written: string[] = [];
  return { written, isTTY, write: (text: string) => written.push(text) > 0 };
}

test('work longer than a second shows its progress at most ten times a second and clears the line at the end', () => {
  const stream = terminal();
  let now = 0;
  const progress = startProgress('Reading', stream, () => now);
  progress.at(1, 4_000);
  expect(stream.written).toEqual([]);
  now = 1_000;
  progress.at(1_000, 4_000);
  expect(stream.written).toEqual([`\r\x1b[KReading  ██████░░░░░░░░░░░░░░░░░░  25%  1,000 of 4,000`]);
  now = 1_050;
  progress.at(1_100, 4_000);
  expect(stream.written).toHaveLength(1);
  now = 1_100;
  progress.at(1_200);
  expect(stream.written.at(-1)).toBe('\r\x1b[KReading  1,200');
  progress.end();
  expect(stream.written.at(-1)).toBe('\r\x1b[K');
});

test('no progress is printed without a terminal', () => {
  const stream = terminal({ isTTY: false });
  let now = 0;
  const progress = startProgress('Reading', stream, () => now);
  now = 5_000;
  progress.at(1, 2);
  progress.end();
  expect(stream.written).toEqual([]);
});
