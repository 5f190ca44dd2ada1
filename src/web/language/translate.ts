import { createElement, Fragment, type ReactNode } from 'react';
import type { CountedMessage, Message, Placeholders } from './catalogue.ts';

/** The language of a page, as its code needs it. */
export interface Language {
  /** The locale for `Intl`. */
  locale: string;
  /** The value of `lang` in URLs; unset for the language whose URLs have none. */
  param?: string | undefined;
  /** The direction of writing. Default: left to right. */
  dir?: 'rtl' | undefined;
  /** The translations by English text. If unset, texts are English. */
  messages?: Readonly<Record<string, string | Readonly<Record<string, string>>>> | undefined;
}

/** The locale is fixed, so the server and the browser format numbers and dates identically. */
const ENGLISH: Language = { locale: 'en-US' };

let current = ENGLISH;

/** Sets the language of all texts. Only the browser uses it directly, because its document has one language. */
export function setLanguage(language: Language): void {
  current = language;
}

/** Runs `work` with all texts in one language, for the server, which renders several. `work` must be synchronous. */
export function inLanguage<Result>(language: Language = ENGLISH, work: () => Result): Result {
  const outer = current;
  setLanguage(language);
  try {
    return work();
  } finally {
    setLanguage(outer);
  }
}

/** The locale for `Intl`; undefined in English, whose texts the specification fixes. */
export function intlLocale(): string | undefined {
  return current.messages && current.locale;
}

/** The arrow keys for the next and the previous item, in the reading direction of the page. */
export function arrowKeys(): { next: string; previous: string } {
  const [next, previous] = current.dir ? ['ArrowLeft', 'ArrowRight'] : ['ArrowRight', 'ArrowLeft'];
  return { next, previous } as { next: string; previous: string };
}

/** The value of `lang` in the URLs of this page, for forms. */
export function languageParam(): string | undefined {
  return current.param;
}

/** Caches one formatter per locale, because making one takes longer than formatting a text. */
export function perLocale<Format>(make: (locale: string) => Format): (locale: string) => Format {
  const made = new Map<string, Format>();
  return (locale) => {
    const format = made.get(locale) ?? make(locale);
    made.set(locale, format);
    return format;
  };
}

const dateFormats = new Map<string, Intl.DateTimeFormat>();

/** A cached `Intl.DateTimeFormat`. The code uses few combinations of options, so the cache stays small. */
export function dateFormat(locale: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = locale + JSON.stringify(options);
  const format = dateFormats.get(key) ?? new Intl.DateTimeFormat(locale, options);
  dateFormats.set(key, format);
  return format;
}

const numbersOf = perLocale((locale) => new Intl.NumberFormat(locale));
const pluralsOf = perLocale((locale) => new Intl.PluralRules(locale));

/** 1234 → '1,234'. */
export function formatCount(count: number): string {
  // Versions of the `Intl` data use different spaces here.
  return numbersOf(current.locale).format(count).replaceAll('\u202f', '\u00a0');
}

type Values<Text extends string, Value> = [Placeholders<Text>] extends [never]
  ? []
  : [values: Record<Placeholders<Text>, Value>];

/** A text in the language of the page. Call it while rendering or later, because modules load before the language is known. */
export function t<Text extends Message>(message: Text, ...[values]: Values<Text, string | number>): string {
  return fill(translated(message), values);
}

/** A text with a count, which its placeholder `{count}` shows: `plural('{count} vote', '{count} votes', 3)`. */
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

/** A text whose placeholders are replaced by elements. */
export function rich<Text extends Message>(message: Text, values: Record<Placeholders<Text>, ReactNode>): ReactNode {
  return withElements(translated(message), values);
}

/** Replaces the names in braces of a text that is already translated, e.g. by `plural`. */
export function withElements(text: string, values: Record<string, ReactNode>): ReactNode {
  const parts = text.split(/\{(\w+)\}/).map((part, index) => (index % 2 ? values[part] : part));
  return createElement(Fragment, null, ...parts);
}

/** A text that comes with data, such as the name 'You': translated if the catalogue has it. */
export function translated(text: string): string {
  const found = current.messages?.[text];
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

/** A URL of this site in the language of the page. */
export function localAddress(address: string): string {
  if (!current.param) return address;
  const [path = '', hash] = address.split('#');
  const local = `${path}${path.includes('?') ? '&' : '?'}lang=${current.param}`;
  return hash === undefined ? local : `${local}#${hash}`;
}

/** A query without its language: `?q=a&lang=de` → `?q=a`. */
export function withoutLanguage(search: string): string {
  return search.replace(/([?&])lang=[^&]*&?/, '$1').replace(/[?&]$/, '');
}
