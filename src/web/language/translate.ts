import { createElement, Fragment, type ReactNode } from 'react';
import { withLanguage } from '../../contract/routes.ts';
import type { CountedMessage, Message, Placeholders } from './catalogue.ts';

/** The language of a page, as the browser and the server use it. */
export interface Language {
  /** The locale for `Intl`. */
  locale: string;
  /** The value of `lang` in URLs. Unset for the language that URLs without `lang` select. */
  param?: string | undefined;
  /** The writing direction. Default: left to right. */
  dir?: 'rtl' | undefined;
  /** The translations, by English message. If unset, the page is in English. */
  messages?: Readonly<Record<string, string | Readonly<Record<string, string>>>> | undefined;
}

/** English. The locale is explicit, so the server and the browser format numbers identically. */
const ENGLISH: Language = { locale: 'en-US' };

let current = ENGLISH;

/**
 * Sets the language of all messages. Only browsers call this, because their document has one language. The server calls
 * `inLanguage`.
 */
export function setLanguage(language: Language): void {
  current = language;
}

/**
 * Runs `work` with all messages in one language. Only the server calls this, because it renders several languages.
 * `work` must be synchronous, because the language is a global variable.
 */
export function inLanguage<Result>(language: Language = ENGLISH, work: () => Result): Result {
  const outer = current;
  setLanguage(language);
  try {
    return work();
  } finally {
    setLanguage(outer);
  }
}

/** Returns the locale for `Intl`, or undefined in English, whose wording the specification prescribes. */
export function intlLocale(): string | undefined {
  return current.messages && current.locale;
}

/** Returns the arrow keys for the next and the previous item, in the reading direction of the page. */
export function arrowKeys(): { next: string; previous: string } {
  return current.dir ? { next: 'ArrowLeft', previous: 'ArrowRight' } : { next: 'ArrowRight', previous: 'ArrowLeft' };
}

/** Returns the value of `lang` in the URLs of this page, for forms. */
export function languageParam(): string | undefined {
  return current.param;
}

/** Caches one formatter per locale, because creating a formatter takes longer than formatting. */
export function perLocale<Format>(make: (locale: string) => Format): (locale: string) => Format {
  const made = new Map<string, Format>();
  return (locale) => {
    const format = made.get(locale) ?? make(locale);
    made.set(locale, format);
    return format;
  };
}

const dateFormats = new Map<string, Intl.DateTimeFormat>();

/** Returns a cached `Intl.DateTimeFormat`. The code uses few combinations of options, so the cache stays small. */
export function dateFormat(locale: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = locale + JSON.stringify(options);
  const format = dateFormats.get(key) ?? new Intl.DateTimeFormat(locale, options);
  dateFormats.set(key, format);
  return format;
}

const numbersOf = perLocale((locale) => new Intl.NumberFormat(locale));
const pluralsOf = perLocale((locale) => new Intl.PluralRules(locale));

/** Formats a count in the language of the page: 1234 becomes '1,234' in English. */
export function formatCount(count: number): string {
  // Some versions of the `Intl` data separate thousands by U+202F and others by U+00A0, but the server and the browser
  // must produce the same text.
  return numbersOf(current.locale).format(count).replaceAll('\u202f', '\u00a0');
}

type Values<Text extends string, Value> = [Placeholders<Text>] extends [never]
  ? []
  : [values: Record<Placeholders<Text>, Value>];

/**
 * Translates a message into the language of the page. Must not run at module level, because modules load before the
 * language is known.
 */
export function t<Text extends Message>(message: Text, ...[values]: Values<Text, string | number>): string {
  return fill(translated(message), values);
}

/** Translates a message with a count, which replaces `{count}`: `plural('{count} vote', '{count} votes', 3)`. */
export function plural<Text extends CountedMessage['other']>(
  one: Extract<CountedMessage, { other: Text }>['one'],
  other: Text,
  count: number,
  values?: Record<Exclude<Placeholders<Text>, 'count'>, string | number>,
): string {
  const forms = current.messages?.[other] as Readonly<Record<string, string>> | undefined;
  const form = forms ? (forms[pluralsOf(current.locale).select(count)] ?? forms.other) : undefined;
  return fill(form ?? (count === 1 ? one : other), { count, ...values });
}

/** Translates a message and replaces its placeholders with elements. */
export function rich<Text extends Message>(message: Text, values: Record<Placeholders<Text>, ReactNode>): ReactNode {
  return withElements(translated(message), values);
}

/** Replaces the placeholders of a translated message, such as the result of `plural`, with elements. */
export function withElements(text: string, values: Record<string, ReactNode>): ReactNode {
  const parts = text.split(/\{(\w+)\}/).map((part, index) => (index % 2 ? values[part] : part));
  return createElement(Fragment, null, ...parts);
}

/**
 * Translates a text that is known only at run time, or returns it unchanged if the catalogue lacks it. With the prefix
 * `default:`, translates only default values of fields, so a maker named 'Light' keeps that name.
 */
export function translated(text: string, prefix: '' | 'default:' = ''): string {
  const found = current.messages?.[prefix + text];
  return typeof found === 'string' ? found : text;
}

function fill(text: string, values?: Record<string, string | number>): string {
  return values === undefined
    ? text
    : text.replace(/\{(\w+)\}/g, (_, name: string) => {
        const value = values[name] ?? '';
        return typeof value === 'number' ? formatCount(value) : value;
      });
}

/** Returns a URL of this site with the language of the page. */
export function localAddress(address: string): string {
  return withLanguage(address, current.param);
}

/** Removes the language from a query string: `?q=a&lang=de` → `?q=a`. */
export function withoutLanguage(search: string): string {
  return search.replace(/([?&])lang=[^&]*&?/, '$1').replace(/[?&]$/, '');
}
