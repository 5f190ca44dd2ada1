import type { ENGLISH } from './en.ts';

type Entry = (typeof ENGLISH)[number];

/** An English text, which is the key of a message. */
export type Message = Extract<Entry, string>;

/** A text without placeholders. */
export type PlainMessage = { [Text in Message]: [Placeholders<Text>] extends [never] ? Text : never }[Message];

/** A text with a count, in its English singular and plural forms. */
export type CountedMessage = Extract<Entry, { one: string; other: string }>;

/** The names in braces: `'{count} of {total}'` → `'count' | 'total'`. */
export type Placeholders<Text extends string> = Text extends `${string}{${infer Name}}${infer Rest}`
  ? Name | Placeholders<Rest>
  : never;

/** The forms of a text with a count, by the plural category of `Intl.PluralRules`. `other` is the fallback. */
type Forms = Partial<Record<Intl.LDMLPluralRule, string>> & { other: string };

type Messages = { [Text in Message]: string } & { [Text in CountedMessage['other']]: Forms };

/** One language other than English. Its file is named after its code, as in `?lang=de`. */
export interface Catalogue {
  /** The name of the language in the language itself, as listed in the footer. */
  name: string;
  /** The BCP 47 tag of documents. Default: the code. */
  tag?: string;
  /** The locale for `Intl`. Default: the tag. */
  locale?: string;
  /** The writing direction. Default: left to right. */
  dir?: 'rtl';
  messages: Messages;
}
