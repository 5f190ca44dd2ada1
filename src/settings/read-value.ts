import { IANAZone } from 'luxon';
import { LANGUAGE_CODES } from '../contract/site.ts';
import { isLongerThan } from '../contract/text.ts';

export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

const UNITS_MS = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const MAX_INTERVAL_MS = 366 * UNITS_MS.d;

export function readHost(text: string): string {
  if (/[\s/]/.test(text))
    throw new Error(`${quote(text)} is not a host name or IP address, such as 127.0.0.1 or 0.0.0.0`);
  // `localhost` may have two addresses, but the limits on connections apply to one listening socket.
  return text.toLowerCase() === 'localhost' ? '127.0.0.1' : text;
}

/** Returns whether a host, or the host of a URL, is `localhost` or a loopback address. */
export function isLoopback(host: string): boolean {
  return ['localhost', '::1', '[::1]'].includes(host) || /^127\.\d+\.\d+\.\d+$/.test(host);
}

/** Creates a reader of whole numbers. Its error message consists of the quoted text, `reason`, the range and `hint`. */
export function wholeNumber(min: number, max: number, reason: string, hint = ''): (text: string) => number {
  return (text) => {
    const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
    if (!(value >= min && value <= max)) throw new Error(`${quote(text)} ${reason} from ${min} to ${max}${hint}`);
    return value;
  };
}

/** Creates a reader that accepts these values in upper or lower case. */
export function oneOf<const Value extends string>(...values: Value[]): (text: string) => Value {
  return (text) => {
    const value = values.find((each) => each === text.toLowerCase());
    if (value === undefined) throw new Error(`${quote(text)} is invalid: the value must be ${values.join(' or ')}`);
    return value;
  };
}

const readOnOff = oneOf('on', 'off');

export function readSwitch(text: string): boolean {
  return readOnOff(text) === 'on';
}

export const readPort = wholeNumber(0, 65_535, 'is not a port; it must be a number');

/** Reads the URL of a database. It may contain a password, so error messages never repeat it. */
export function readDatabaseUrl(text: string): string {
  const shape = 'it must look like postgres://role:password@host:5432/database';
  if (!URL.canParse(text)) throw new Error(`this is not a URL; ${shape}`);
  const { protocol, username, pathname, hash, searchParams } = new URL(text);
  if (!/^postgres(?:ql)?:$/.test(protocol)) throw new Error(`this is not a PostgreSQL URL; ${shape}`);
  // Otherwise, part of a password could be taken for the database name, which error messages contain.
  if (username === '' && `${pathname}${hash}`.includes('@'))
    throw new Error(
      'an @ follows the host: in the role and the password, write / as %2F, ? as %3F, # as %23 and @ as %40',
    );
  // The driver also accepts a port as a parameter, and does not report a wrong one.
  const port = searchParams.get('port') ?? '';
  if (!/^\d*$/.test(port) || Number(port) > 65_535) throw new Error('port is not a number from 0 to 65535');
  return text;
}

export function readReplicaUrls(text: string): string[] {
  const urls = text.split(',').map((url) => url.trim());
  return urls.filter((url) => url !== '').map(readDatabaseUrl);
}

export function readSiteUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol))
    throw new Error(`${quote(text)} is not an http or https URL, such as https://launches.example`);
  if (url.href !== `${url.origin}/`) {
    throw new Error(`${quote(text)} must have no path, query, fragment or password; write ${url.origin}`);
  }
  return url.origin;
}

/** Creates a reader of one line of text. Line breaks become spaces. */
export function oneLine(maxCharacters: number): (text: string) => string {
  return (text) => {
    const line = text.replaceAll(/\s+/g, ' ');
    if (isLongerThan(line, maxCharacters)) throw new Error(`this is longer than ${maxCharacters} characters`);
    return line;
  };
}

/** Reads `de`, `auto` or `de,auto`. `auto` without a language means `en,auto`. */
export function readLocale(text: string): { code: string; isNegotiated: boolean } {
  const lower = text.toLowerCase();
  const [, code = '', auto] = /^([a-z]+)(?:\s*,\s*(auto))?$/.exec(lower === 'auto' ? 'en,auto' : lower) ?? [];
  if (!LANGUAGE_CODES.includes(code)) {
    const known = [...LANGUAGE_CODES, 'auto'].join(', ');
    throw new Error(`${quote(text)} is not one of ${known}, or a language followed by auto (de,auto)`);
  }
  return { code, isNegotiated: auto !== undefined };
}

/** Reads a secret. Error messages never repeat it. */
export function readToken(text: string): string {
  if (!/^[\x21-\x7e]{16,200}$/.test(text))
    throw new Error(
      'this must be 16 to 200 visible ASCII characters without a space, such as the output of `openssl rand -hex 16`',
    );
  return text;
}

/** Reads a duration such as `30m`, `6h` or `1d`. @returns milliseconds. */
export function readInterval(text: string): number {
  const [, amount, unit] = /^(\d{1,6})([mhd])$/.exec(text) ?? [];
  const ms = Number(amount) * (UNITS_MS[unit as keyof typeof UNITS_MS] ?? Number.NaN);
  if (!(ms > 0 && ms <= MAX_INTERVAL_MS))
    throw new Error(`${quote(text)} is invalid: the interval must be 1m to 366d, such as 30m, 6h or 1d`);
  return ms;
}

export function readTimeZone(text: string): string {
  if (!IANAZone.isValidZone(text)) {
    throw new Error(`${quote(text)} is not a time zone; it must be an IANA name, such as Europe/Berlin`);
  }
  return text;
}

export function readLogLevel(text: string): LogLevel {
  const level = LOG_LEVELS.find((known) => known === text.toLowerCase());
  if (level === undefined) throw new Error(`${quote(text)} is not one of ${LOG_LEVELS.join(', ')}`);
  return level;
}

/** Quotes an invalid value without the part before an `@`, since the value may be a misplaced URL with a password. */
export function quote(text: string): string {
  return `'${text.replace(/^.*@/s, '…@')}'`;
}
