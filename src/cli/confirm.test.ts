import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { confirm, requireTerminal } from './confirm.ts';
import { UsageError } from './usage-error.ts';

const stream = (isTTY: boolean) => Object.assign(new PassThrough(), { isTTY });

test.each([
  ['y', true],
  ['YES', true],
  [' yes ', true],
  ['', false],
  ['n', false],
  ['yep', false],
  ['yes please', false],
])('the answer %j means %j', async (answer, agreed) => {
  const terminal = { input: stream(true), output: stream(true) };
  terminal.input.write(`${answer}\n`);
  expect(await confirm('Remove it?', terminal)).toBe(agreed);
  expect(String(terminal.output.read())).toContain('Remove it? [y/N] ');
});

test('no answer at all means no', async () => {
  const terminal = { input: stream(true), output: stream(true) };
  terminal.input.end();
  expect(await confirm('Remove it?', terminal)).toBe(false);
});

test.each([
  [false, true],
  [true, false],
])('where nobody can answer (a terminal to read from: %j, to write to: %j) nobody is asked', async (reads, writes) => {
  const terminal = { input: stream(reads), output: stream(writes) };
  await expect(confirm('Remove it?', terminal)).rejects.toThrow(UsageError);
  expect(() => requireTerminal(terminal)).toThrow('--yes');
  expect(terminal.output.read()).toBeNull();
});
