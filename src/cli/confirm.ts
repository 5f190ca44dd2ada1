import { createInterface } from 'node:readline/promises';
import { UsageError } from './usage-error.ts';

/** Asks on the terminal. @throws UsageError where there is none: a script must say `--yes`. */
export async function confirm(question: string): Promise<boolean> {
  if (!process.stdin.isTTY || !process.stderr.isTTY) {
    throw new UsageError('this command asks before it removes anything, and there is no terminal to ask on: add --yes');
  }
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(?:es)?$/i.test((await lines.question(`${question} [y/N] `)).trim());
  } finally {
    lines.close();
  }
}
