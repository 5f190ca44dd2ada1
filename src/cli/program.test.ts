import type { Command } from 'commander';
import { expect, test } from 'vitest';
import { runProgram } from '../../tests/support/program.ts';
import { PACKAGE_VERSION } from '../settings/package-root.ts';
import { buildProgram } from './program.ts';

const TERMINAL_WIDTH = 80;

/** Groups of commands, and commands whose usage line is enough. The help of every other command has examples. */
const WITHOUT_EXAMPLES = new Set([
  ...['', 'sample', 'products', 'comments', 'submissions', 'leaderboards', 'votes', 'webhooks', 'counts', 'console'],
  ...['serve', 'migrate', 'sample load', 'submissions undo', 'submissions key', 'counts check'],
  ...['leaderboards list', 'leaderboards show', 'leaderboards check', 'votes list', 'votes undo'],
  ...['webhooks list', 'webhooks retry', 'webhooks test'],
]);

function namesOf(command: Command, parents: readonly string[] = []): string[][] {
  return [[...parents], ...command.commands.flatMap((each) => namesOf(each, [...parents, each.name()]))];
}

test.each(namesOf(buildProgram()).map((names) => [names.join(' '), names] as const))(
  'the help of "groundswell %s" has its usage and examples, and fits a terminal of 80 columns',
  async (name, names) => {
    const { code, stdout } = await runProgram([...names, '--help'], {});
    expect(code).toBe(0);
    expect(stdout).toContain(`Usage: ${['groundswell', ...names].join(' ')} [`);
    const example = new RegExp(`Examples:\\n(?: .*\\n)* {2}groundswell ${name}\\b`);
    expect(example.test(stdout)).toBe(!WITHOUT_EXAMPLES.has(name));
    expect(stdout.split('\n').filter((line) => line.length > TERMINAL_WIDTH)).toEqual([]);
  },
);

test('--version prints only the version', async () => {
  expect(await runProgram(['--version'], {})).toEqual({ code: 0, stdout: `${PACKAGE_VERSION}\n`, stderr: '' });
});

test('an escape sequence in an unknown option is escaped', async () => {
  const { code, stderr } = await runProgram(['log', '--\u001b[2J\u009b'], {});
  expect(code).toBe(2);
  expect(stderr).toContain('\\u{1b}[2J\\u{9b}');
});
