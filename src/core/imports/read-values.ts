import { createHash } from 'node:crypto';
import slugify from '@sindresorhus/slugify';

export const DEFAULT_SEPARATOR = ',';

const ADDRESS_START = /^\s*(?:https?:\/\/|\/)/;

/**
 * Parses a list: a JSON array, one JSON object, or separated items. Separated items are trimmed, and empty ones are
 * left out. A text that contains URLs is split only before URLs and paths, because a URL may contain the separator.
 */
export function splitList(text: string, separator = DEFAULT_SEPARATOR): unknown[] {
  const trimmed = text.trim();
  if (/^[[{]/.test(trimmed)) {
    const parsed = parseItems(trimmed);
    if (parsed !== undefined) return parsed;
  }
  const parts = trimmed.split(separator);
  const items = /https?:\/\//.test(trimmed) ? joinAddresses(parts, separator) : parts;
  return items.map((item) => item.trim()).filter((item) => item !== '');
}

/** Appends each part that does not begin a URL or a path to the part before it. */
function joinAddresses(parts: readonly string[], separator: string): string[] {
  const items: string[] = [];
  for (const part of parts) {
    const last = items.at(-1);
    if (last === undefined || ADDRESS_START.test(part)) items.push(part);
    else items[items.length - 1] = last + separator + part;
  }
  return items;
}

/**
 * Parses a JSON array, or one JSON value as its only item. @returns undefined for other text, such as `[beta], tools`.
 */
function parseItems(text: string): unknown[] | undefined {
  // PostgreSQL's notation for an empty array.
  if (text === '{}') return [];
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value : [value];
  } catch {
    return undefined;
  }
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const MONTH =
  '(?<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\\.?';
const DAY = '(?<day>\\d{1,2})(?:st|nd|rd|th)?';
const YEAR = '(?<year>\\d{4})';
const WEEKDAY = '(?:(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?\\.?,? )?';
const TIME =
  '(?:(?:t| )(?<hour>\\d{2}):(?<minute>\\d{2})(?::(?<second>\\d{2})(?:[.,](?<fraction>\\d{1,9}))?)?(?: ?(?<zone>z|utc|gmt|[+-]\\d{2}(?::?\\d{2})?))?)?';

/** The accepted date formats, all of which are unambiguous. */
const DATE_FORMATS = [
  `${YEAR}(?:([-/])(?<monthNumber>\\d{1,2})(?:\\2(?<day>\\d{1,2})${TIME})?)?`,
  `${WEEKDAY}${MONTH} ${YEAR}`,
  `${WEEKDAY}${MONTH} ${DAY},? ${YEAR}${TIME}`,
  `${WEEKDAY}${DAY}[ -]${MONTH}[ -]${YEAR}${TIME}`,
].map((form) => new RegExp(`^${form}$`, 'i'));

/**
 * Reads a date or an instant: ISO 8601 with or without an offset, `2011`, `2011-03`, `March 2021`, `January 22, 2023`,
 * `22 Jan 2023`, `Sun, 22 Jan 2023 10:00:00 GMT`. Missing parts get their earliest values; without an offset, times are
 * UTC.
 * @returns the instant in the format of `Date.toISOString`; `impossible` for a day or time that does not exist, such as
 * February 30; undefined for other formats.
 */
export function readDate(text: string): string | 'impossible' | undefined {
  const written = text.trim().replaceAll(/\s+/g, ' ');
  for (const form of DATE_FORMATS) {
    const groups = form.exec(written)?.groups;
    if (groups !== undefined) return instantOf(groups) ?? 'impossible';
  }
  return undefined;
}

function instantOf(groups: Partial<Record<string, string>>): string | undefined {
  const number = (name: string, missing = 0) => (groups[name] === undefined ? missing : Number(groups[name]));
  const month =
    groups.month === undefined ? number('monthNumber', 1) : MONTHS.indexOf(groups.month.slice(0, 3).toLowerCase()) + 1;
  const [year, day, hour, minute, second] = [
    number('year'),
    number('day', 1),
    number('hour'),
    number('minute'),
    number('second'),
  ];
  const offsetMinutes = offsetOf(groups.zone);
  if (year < 1 || hour > 23 || minute > 59 || second > 59 || offsetMinutes === undefined) return undefined;
  const date = new Date(0);
  // `Date.UTC` would read the years 0 to 99 as 1900 to 1999.
  date.setUTCFullYear(year, month - 1, day);
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return undefined;
  const milliseconds = Number((groups.fraction ?? '').padEnd(3, '0').slice(0, 3));
  date.setUTCHours(hour, minute - offsetMinutes, second, milliseconds);
  const instant = date.toISOString();
  // The offset can move the instant to a year outside 0001 to 9999. ISO 8601 formats such years differently.
  return /^(?!0000)\d{4}-/.test(instant) ? instant : undefined;
}

/** Returns the offset from UTC in minutes, or undefined if it is invalid. */
function offsetOf(zone: string | undefined): number | undefined {
  const [, sign, hours, minutes = '0'] = /^([+-])(\d{2}):?(\d{2})?$/.exec(zone ?? '+00') ?? [null, '+', '0'];
  const offset = Number(hours) * 60 + Number(minutes);
  if (offset > 14 * 60 || Number(minutes) > 59) return undefined;
  return sign === '-' ? -offset : offset;
}

/** Shorter than the 64 characters of an id, to leave room for a number that makes the id unique. */
const SLUG_CHARACTERS = 56;

/** Converts a text to an id by transliterating it to a-z, 0-9 and hyphens. The result may be empty. */
export function slugOf(text: string, maxCharacters = SLUG_CHARACTERS): string {
  const slug = slugify(text, { decamelize: false });
  return slug.slice(0, maxCharacters).replace(/-+$/, '');
}

/** Returns the slug of a name, or `product-` and a hash of the name if the slug would be empty. */
export function slugOfName(name: string): string {
  return slugOf(name) || `product-${createHash('sha256').update(name.normalize('NFC')).digest('hex').slice(0, 10)}`;
}
