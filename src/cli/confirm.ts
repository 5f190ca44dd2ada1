import { createInterface } from 'node:readline/promises';
import { UsageError } from './usage-error.ts';

/** Where somebody can be asked: who answers on `input` has read `output`. */
interface Terminal {
  input: NodeJS.ReadableStream & { isTTY?: boolean };
  output: NodeJS.WritableStream & { isTTY?: boolean };
}

const TERMINAL: Terminal = { input: process.stdin, output: process.stderr };

/** For a command that has to look before it asks. @throws UsageError where there is no terminal to ask on. */
export function requireTerminal({ input, output }: Terminal = TERMINAL): void {
  if (input.isTTY && output.isTTY) return;
  throw new UsageError('this command asks before it removes anything, and there is no terminal to ask on: add --yes');
}

/** Asks on the terminal. @throws UsageError where there is none: a script must say `--yes`. */
export async function confirm(question: string, terminal: Terminal = TERMINAL): Promise<boolean> {
  requireTerminal(terminal);
  const lines = createInterface(terminal);
  try {
    // Ctrl-D ends the input without an answer: that is no.
    const ended = new Promise<undefined>((resolve) => lines.once('close', () => resolve(undefined)));
    const answer = await Promise.race([lines.question(`${question} [y/N] `), ended]);
    if (answer === undefined) terminal.output.write('\n');
    return /^y(?:es)?$/i.test(answer?.trim() ?? '');
  } finally {
    lines.close();
  }
}
