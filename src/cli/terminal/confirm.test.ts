import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { UsageError } from '../arguments.ts';
import { confirm, requireTerminal } from './output.ts';

const stream = (isTTY: boolean) => Object.assign(new PassThrough(), { isTTY });

test.each([
  ['y', true],
  ['YES', true],
  [' yes ', true],
  ['', false],
  ['n', false],
  ['yep', false],
  ['yes please', false],
])('the reply %j to a confirmation prompt means %j', async (reply, agreed) => {
  const terminal = { input: stream(true), output: stream(true) };
  terminal.input.write(`${reply}\n`);
  expect(await confirm('Remove it?', terminal)).toBe(agreed);
  expect(String(terminal.output.read())).toContain('Remove it? [y/N] ');
});

test('input that ends without a reply means no', async () => {
  const terminal = { input: stream(true), output: stream(true) };
  terminal.input.end();
  expect(await confirm('Remove it?', terminal)).toBe(false);
});

test('Ctrl-C at a confirmation prompt rejects with exit code 130', async () => {
  const terminal = { input: stream(true), output: stream(true) };
  terminal.input.write('\x03');
  await expect(confirm('Remove it?', terminal)).rejects.toMatchObject({ name: 'InterruptedError', exitCode: 130 });
  expect(String(terminal.output.read())).toMatch(/\n$/);
});

test.each([
  [false, true],
  [true, false],
])(
  'a confirmation prompt fails without asking if its input or output is not a terminal (%j, %j)',
  async (reads, writes) => {
    const terminal = { input: stream(reads), output: stream(writes) };
    await expect(confirm('Remove it?', terminal)).rejects.toThrow(UsageError);
    expect(() => requireTerminal(terminal)).toThrow('--yes');
    expect(terminal.output.read()).toBeNull();
  },
);
