import { InvalidArgumentError, Option } from 'commander';
import { isProductId } from '../contract/products/product-id.ts';
import { isStorableText } from '../contract/text.ts';
import { isUuid } from '../core/uuid.ts';
import { oneLine } from './one-line.ts';
import { UsageError } from './usage-error.ts';

const MOST_LISTED = 1_000;

/** `--limit` of a list, with what it is without it. */
export function limitOption(fallback: number): Option {
  return new Option('--limit <number>', `how many at most, up to ${MOST_LISTED}`)
    .argParser(numberReader(1, MOST_LISTED))
    .default(fallback);
}

/** Reads a whole number within bounds. */
export function numberReader(least: number, most: number): (text: string) => number {
  return (text) => {
    const number = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
    if (!(number >= least && number <= most))
      throw new InvalidArgumentError(`It must be a number from ${least} to ${most}.`);
    return number;
  };
}

/** Reads a text to look for: one that the database could hold. */
export function readText(text: string): string {
  if (text === '' || !isStorableText(text)) throw new InvalidArgumentError('It must be a text.');
  return text;
}

const DATE = /^\d{4}-\d{2}-\d{2}$/;
const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2})$/;

/** Reads a date, which is its midnight in UTC, or an instant with its offset. */
export function readInstant(text: string): Date {
  const instant = new Date(DATE.test(text) || INSTANT.test(text) ? text : Number.NaN);
  // The 30th of February is taken for a day of March.
  const isReal = !Number.isNaN(instant.getTime()) && isDay(text.slice(0, 10));
  if (!isReal) throw new InvalidArgumentError('It must be a date such as 2026-01-31, or 2026-01-31T18:00:00Z.');
  return instant;
}

function isDay(day: string): boolean {
  const midnight = new Date(`${day}T00:00:00Z`);
  return !Number.isNaN(midnight.getTime()) && midnight.toISOString().startsWith(day);
}

/** Ids of products as they were given. @throws UsageError for one that no product can have. */
export function productIdsOf(ids: readonly string[]): readonly string[] {
  const wrong = ids.find((id) => !isProductId(id));
  if (wrong !== undefined) throw new UsageError(`'${oneLine(wrong)}' is no id of a product`);
  return ids;
}

/** Ids of comments as they were given. @throws UsageError for one that no comment can have. */
export function commentIdsOf(ids: readonly string[]): readonly string[] {
  const wrong = ids.find((id) => !isUuid(id));
  if (wrong !== undefined) throw new UsageError(`'${oneLine(wrong)}' is no id of a comment`);
  return ids;
}
