import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { filesBelow, ROOT } from '../../../tests/arch/source-files.ts';
import { LANGUAGE_CODES } from '../../contract/site.ts';
import { CATALOGUES } from '../entry-server.tsx';
import { ENGLISH } from './en.ts';

type Translation = string | Readonly<Record<string, string>>;

const keyOf = (message: (typeof ENGLISH)[number]): string => (typeof message === 'string' ? message : message.other);
const KEYS = ENGLISH.map(keyOf);
const COUNTED = new Set(ENGLISH.filter((message) => typeof message !== 'string').map(keyOf));

const placeholders = (text: string) => [...new Set(text.match(/\{\w+\}/g))].sort();

/**
 * Returns the placeholders that a translation lacks or should not have. A plural form other than `other` may omit the
 * count, because a word may express it: one, two, none.
 */
function placeholderErrors(key: string, translation: Translation): string[] {
  const expected = placeholders(key);
  const texts = typeof translation === 'string' ? { other: translation } : translation;
  return Object.entries(texts).flatMap(([form, text]) => {
    const found = placeholders(text);
    const missing = expected.filter((name) => !found.includes(name) && (form === 'other' || !isCount(name)));
    const unknown = found.filter((name) => !expected.includes(name));
    return [...missing, ...unknown].map((name) => `${key} (${form}): ${name}`);
  });
}

const isCount = (name: string) => ['{count}', '{number}'].includes(name);

/** Returns the plural forms that whole numbers from 0 to 1,000 use. */
function formsOf(locale: string): string[] {
  const rules = new Intl.PluralRules(locale);
  return [...new Set(Array.from({ length: 1_001 }, (_, count) => rules.select(count)))].sort();
}

test('the list of messages has no duplicates', () => {
  expect(KEYS.filter((key, index) => KEYS.indexOf(key) !== index)).toEqual([]);
});

test('SITE_LOCALE accepts English and the language of every catalogue', () => {
  expect(['en', ...Object.keys(CATALOGUES)].sort()).toEqual(LANGUAGE_CODES);
});

test('every message is used', async () => {
  const paths = (await filesBelow('src/web', 'src/contract', 'src/server')).filter(
    (path) => /(?<!\.test)\.tsx?$/.test(path) && !path.startsWith('src/web/language/en.ts'),
  );
  const sources = await Promise.all(
    paths.filter((path) => !path.includes('/catalogues/')).map((path) => readFile(join(ROOT, path), 'utf8')),
  );
  const code = sources.join('\n');
  const texts = KEYS.map((key) => key.replace(/^default:/, ''));
  expect(texts.filter((text) => !["'", '"', '`'].some((quote) => code.includes(quote + text + quote)))).toEqual([]);
});

test('each catalogue has the direction of its script', () => {
  expect(Object.keys(CATALOGUES).length).toBeGreaterThan(0);
  for (const [code, { dir, messages }] of Object.entries(CATALOGUES)) {
    const isRightToLeft = /[\u0590-\u08ff]/.test(messages['Post Comment']);
    expect(dir, code).toBe(isRightToLeft ? 'rtl' : undefined);
  }
});

test('French texts have no-break spaces before double punctuation marks and inside quotation marks', () => {
  const messages: readonly Translation[] = Object.values(CATALOGUES.fr?.messages ?? {});
  const texts = messages.flatMap((text) => (typeof text === 'string' ? text : Object.values(text)));
  expect(texts.length).toBeGreaterThan(100);
  expect(texts.filter((text) => / [:;!?»]|« /.test(text))).toEqual([]);
});

test.each(['ar', 'de', 'es', 'fr'])(
  '%s names the author of a comment after a colon, because prepositions change "You"',
  (code) => {
    expect(CATALOGUES[code]?.messages['Comment by {name}']).toMatch(/^\S+\s?: \{name\}$/);
  },
);

test('right-to-left texts isolate what people have written, such as C++ or 2026.png', () => {
  // The chip and the title that consist only of a term have the term's direction, so they need no isolation.
  const written = /\{(?:file|value)\}|.“\{(?:term|tag)\}”|^\{name\} is waiting/;
  const keys = KEYS.filter((key) => written.test(key));
  for (const { dir, messages } of Object.values(CATALOGUES)) {
    const translations: Readonly<Record<string, Translation>> = messages;
    for (const key of dir ? keys : [])
      expect(translations[key]).toMatch(/\u2068\{(?:file|value|term|tag|name)\}\u2069/);
  }
  expect(keys).not.toEqual([]);
});

for (const [code, { tag = code, locale = tag, messages }] of Object.entries(CATALOGUES)) {
  const translations = messages as Readonly<Record<string, Translation>>;

  test(`${code} has every message, and no other`, () => {
    expect(KEYS.filter((key) => !translations[key])).toEqual([]);
    expect(Object.keys(translations).filter((key) => !KEYS.includes(key))).toEqual([]);
  });

  test(`${code} has the placeholders of every message`, () => {
    expect(Object.entries(translations).flatMap(([key, text]) => placeholderErrors(key, text))).toEqual([]);
  });

  test(`${code} has the visible word of the save button in its accessible name`, () => {
    for (const word of ['Save', 'Saved'] as const) {
      expect(messages[`${word} {name}`].toLowerCase()).toContain(messages[word].toLowerCase());
    }
  });

  test(`${code} has a text for each of its plural forms`, () => {
    const forms = formsOf(locale);
    const errors = Object.entries(translations).flatMap(([key, translation]) => {
      if (!COUNTED.has(key)) return typeof translation === 'string' ? [] : [key];
      if (typeof translation === 'string') return [key];
      return forms.filter((form) => !translation[form]).map((form) => `${key} (${form})`);
    });
    expect(errors).toEqual([]);
  });
}
