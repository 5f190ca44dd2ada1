import { extname } from 'node:path';
import { InvalidArgumentError, Option } from 'commander';
import { MAX_REASON_CHARACTERS } from '../contract/console/records.ts';
import { isProductId } from '../contract/products/fields.ts';
import { formatCount, isDay, isLongerThan, isStorableText, isVisible } from '../contract/text.ts';
import type { FileKind } from '../core/imports/check-file.ts';

const MAX_LISTED = 1_000;

/** Thrown if a command cannot run as it was called. The message says what to change. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** The formats of imported and exported files, by file extension. */
const FILE_KINDS: ReadonlyMap<string, FileKind> = new Map([
  ['.csv', 'csv'],
  ['.json', 'json'],
  ['.jsonl', 'json-lines'],
  ['.ndjson', 'json-lines'],
]);

/** Returns the format that the file extension indicates, or undefined if the extension is unknown. */
export function fileKindOf(path: string): FileKind | undefined {
  return FILE_KINDS.get(extname(path).toLowerCase());
}

/** Returns the format that the file extension indicates. @throws UsageError if the extension is unknown. */
export function readFileKind(path: string): FileKind {
  const kind = fileKindOf(path);
  if (kind === undefined)
    throw new UsageError(
      `${path} has an unknown format. Use a file name that ends in one of ${[...FILE_KINDS.keys()].join(', ')}.`,
    );
  return kind;
}

export function limitOption(defaultLimit: number, max = MAX_LISTED): Option {
  return new Option('--limit <number>', `maximum number of rows, up to ${max}`)
    .argParser(numberReader(max))
    .default(defaultLimit);
}

/** Creates the option `--json`. Its help text is an example of the JSON. */
export function jsonOption(example: string): Option {
  return new Option('--json', `print JSON: ${example}`);
}

/** Creates the option `--reason` of a change that the moderation log shows. */
export function reasonOption(): Option {
  return new Option('--reason <text>', 'the reason, for the audit log and the public moderation log').argParser(
    readReason,
  );
}

/** Returns a parser of whole numbers from 1 to `max`. */
export function numberReader(max: number): (text: string) => number {
  return (text) => {
    const number = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
    if (!(number >= 1 && number <= max)) throw new InvalidArgumentError(`It must be a whole number from 1 to ${max}.`);
    return number;
  };
}

/** Checks that an argument is not empty and that the database can store it. */
export function readText(text: string): string {
  if (text === '' || !isStorableText(text))
    throw new InvalidArgumentError('It must not be empty or contain NUL characters or lone surrogates.');
  return text;
}

/** Checks a reason by the same rules as the console. */
export function readReason(text: string): string {
  if (!isVisible(text)) throw new InvalidArgumentError('It must contain a visible character.');
  if (isLongerThan(text, MAX_REASON_CHARACTERS))
    throw new InvalidArgumentError(`It can have at most ${formatCount(MAX_REASON_CHARACTERS)} characters.`);
  return readText(text);
}

const DATE = /^\d{4}-\d{2}-\d{2}$/;
const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2})$/;

/** Parses a time with a UTC offset, or a date, which means midnight in UTC. @throws InvalidArgumentError */
export function readInstant(text: string): Date {
  const instant = new Date(DATE.test(text) || INSTANT.test(text) ? text : Number.NaN);
  // `Date` converts 30 February to a day in March. PostgreSQL has no year 0. With an offset, the instant can be in the
  // year 10000, which `toISOString` writes as `+010000`.
  const isReal =
    !Number.isNaN(instant.getTime()) && isDay(text.slice(0, 10)) && /^(?!0000)\d{4}-/.test(instant.toISOString());
  if (!isReal)
    throw new InvalidArgumentError('It must be a date such as 2026-01-31, or a time such as 2026-01-31T18:00:00Z.');
  return instant;
}

/** Checks product ids. @throws UsageError if an id is malformed. */
export function readProductIds(ids: readonly string[]): readonly string[] {
  const wrong = ids.find((id) => !isProductId(id));
  if (wrong !== undefined)
    throw new UsageError(`'${wrong}' is not a product id. Use 1 to 64 characters from a-z, 0-9 and -.`);
  return ids;
}
