import { createInterface } from 'node:readline/promises';
import { UsageError } from './arguments.ts';
import { safeText } from './terminal/output.ts';

/** Where to ask: the question goes to `output`, the reply comes from `input`. */
interface Terminal {
  input: NodeJS.ReadableStream & { isTTY?: boolean };
  output: NodeJS.WritableStream & { isTTY?: boolean };
}

const TERMINAL: Terminal = { input: process.stdin, output: process.stderr };

/** For a command that looks something up before it asks. @throws UsageError without a terminal. */
export function requireTerminal({ input, output }: Terminal = TERMINAL): void {
  if (input.isTTY && output.isTTY) return;
  throw new UsageError('this command asks for confirmation, and there is no terminal to ask on: add --yes');
}

/** Asks for confirmation on the terminal. @throws UsageError without one: a script must pass `--yes`. */
export async function confirm(question: string, terminal: Terminal = TERMINAL): Promise<boolean> {
  requireTerminal(terminal);
  const lines = createInterface(terminal);
  try {
    // Ctrl-D ends the input without a reply, which means no.
    const ended = new Promise<undefined>((resolve) => lines.once('close', () => resolve(undefined)));
    const reply = await Promise.race([lines.question(`${safeText(question)} [y/N] `), ended]);
    if (reply === undefined) terminal.output.write('\n');
    return /^y(?:es)?$/i.test(reply?.trim() ?? '');
  } finally {
    lines.close();
  }
}
