import { createInterface } from 'node:readline/promises';
import { inspect } from 'node:util';
import { escapeUnits, formatCount } from '../../contract/text.ts';
import { UsageError } from '../arguments.ts';
import { InterruptedError } from '../with-database.ts';

export type StyleName = 'bold' | 'dim' | 'red' | 'green' | 'yellow';

/** A part of a line: plain text, or text with a style. */
export type Span = string | readonly [style: StyleName, text: string];

interface Output {
  isTTY?: boolean | undefined;
}

/** Control and format characters, line separators and lone surrogates, which can move the cursor or reorder text. */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/**
 * Prints a line on standard output. All commands print text with this function or `printError`, which escape unsafe
 * characters, so text from visitors cannot control the terminal.
 */
export function print(...spans: Span[]): void {
  console.log(format(spans, process.stdout));
}

/**
 * Handles failed writes to the standard streams. Without listeners, a failed write would crash the process and leave an
 * embedded database running. If the reader of standard output stops early, as in `groundswell log | head`, the rest is
 * dropped. After any other error on standard output, such as a full disk, the command exits with code 1.
 */
export function handleOutputErrors(): void {
  process.stderr.on('error', () => {});
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') return;
    if (!process.exitCode) printError(`groundswell: cannot write to standard output: ${error.code ?? error.message}`);
    process.exitCode ||= 1;
  });
}

/** Prints a line on standard error. */
export function printError(...spans: Span[]): void {
  console.error(format(spans, process.stderr));
}

/**
 * Prints a value as one line of JSON. Unsafe characters in its strings are escaped, which does not change the value.
 */
export function printJson(value: unknown): void {
  console.log(safeJson(JSON.stringify(value)));
}

/** Escapes each unsafe character in JSON text as `\uXXXX`. */
export function safeJson(json: string): string {
  return json.replaceAll(UNSAFE, escapeUnits);
}

/** Escapes unsafe characters in text, except line feeds. */
export function safeText(text: string): string {
  return text.replaceAll(UNSAFE, (character) =>
    character === '\n' ? character : `\\u{${character.codePointAt(0)?.toString(16)}}`,
  );
}

/** Escapes text like `safeText`, and also line feeds, so it fits on one line. */
export function oneLine(text: string): string {
  return safeText(text).replaceAll('\n', '\\n');
}

function format(spans: readonly Span[], output: Output): string {
  const colours = hasColours(output);
  return spans
    .map((span) => {
      if (typeof span === 'string') return safeText(span);
      const [style, text] = span;
      // `styleText` is not used, because it would decide again whether the output supports colours.
      const [on, off] = inspect.colors[style] ?? [0, 0];
      return colours ? `\u001b[${on}m${safeText(text)}\u001b[${off}m` : safeText(text);
    })
    .join('');
}

/**
 * Returns whether to use colours: only on a terminal, and neither with NO_COLOR (https://no-color.org) nor with
 * TERM=dumb.
 */
export function hasColours(output: Output, environment: NodeJS.ProcessEnv = process.env): boolean {
  return output.isTTY === true && !environment.NO_COLOR && environment.TERM !== 'dumb';
}

/** Displays the progress of a command. */
interface Progress {
  /** Shows how much is done. `all` is undefined if the total is unknown. */
  at(done: number, all?: number): void;
  /** Clears the line. */
  end(): void;
}

/** Progress appears only if the command takes longer than this. */
const SHOW_AFTER_MS = 1_000;
const INTERVAL_MS = 100;
const BAR_COLUMNS = 24;

/**
 * Shows progress in one line on standard error if a command takes longer than a second. If standard error is not a
 * terminal, nothing is shown, so files and other programs never get the progress.
 */
export function startProgress(
  what: string,
  stream: Pick<NodeJS.WriteStream, 'isTTY' | 'write'> = process.stderr,
  now: () => number = () => performance.now(),
): Progress {
  const begin = now();
  let shownAt: number | undefined;
  return {
    at(done, all) {
      if (!stream.isTTY || now() - begin < SHOW_AFTER_MS || now() - (shownAt ?? 0) < INTERVAL_MS) return;
      shownAt = now();
      stream.write(`\r\x1b[K${what}  ${describe(done, all)}`);
    },
    end() {
      if (shownAt !== undefined) stream.write('\r\x1b[K');
      shownAt = undefined;
    },
  };
}

function describe(done: number, all: number | undefined): string {
  const count = formatCount(done);
  if (all === undefined || all <= 0) return count;
  const share = Math.min(1, done / all);
  const filled = Math.floor(share * BAR_COLUMNS);
  const bar = `${'█'.repeat(filled)}${'░'.repeat(BAR_COLUMNS - filled)}`;
  return `${bar} ${String(Math.floor(share * 100)).padStart(3)}%  ${count} of ${formatCount(all)}`;
}

/** The streams for questions and replies. */
interface Terminal {
  input: NodeJS.ReadableStream & { isTTY?: boolean };
  output: NodeJS.WritableStream & { isTTY?: boolean };
}

const TERMINAL: Terminal = { input: process.stdin, output: process.stderr };

/**
 * Checks that there is a terminal for `confirm` before a command starts its work. @throws UsageError if there is none.
 */
export function requireTerminal({ input, output }: Terminal = TERMINAL): void {
  if (input.isTTY && output.isTTY) return;
  throw new UsageError('This command asks for confirmation, but there is no terminal. Add --yes.');
}

/**
 * Asks for confirmation on the terminal.
 * @throws InterruptedError after Ctrl-C; UsageError if there is no terminal, because scripts must pass `--yes`.
 */
export async function confirm(question: string, terminal: Terminal = TERMINAL): Promise<boolean> {
  requireTerminal(terminal);
  const lines = createInterface(terminal);
  let reply: string | undefined;
  try {
    const ended = new Promise<undefined>((resolve, reject) => {
      // Ctrl-D ends the input without a reply, which means no.
      lines.once('close', () => resolve(undefined));
      // While `readline` reads from a terminal, Ctrl-C causes this event instead of a signal.
      lines.once('SIGINT', () => reject(new InterruptedError('SIGINT')));
    });
    reply = await Promise.race([lines.question(`${safeText(question)} [y/N] `), ended]);
    return /^y(?:es)?$/i.test(reply?.trim() ?? '');
  } finally {
    if (reply === undefined) terminal.output.write('\n');
    lines.close();
  }
}
