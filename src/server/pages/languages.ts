import { withLanguage } from '../../contract/routes.ts';
import type { CATALOGUES, NamedLanguage, PageLanguage } from '../../web/entry-server.tsx';

/** The languages of the site's pages. */
export interface SiteLanguages {
  /** The values of `lang` that URLs may have. */
  params: ReadonlySet<string>;
  /** Whether the site has this language. This includes the default language, which URLs need not name in `lang`. */
  has(code: string): boolean;
  /** Returns the language of a normalized URL. */
  of(path: string): PageLanguage;
  /** All languages, beginning with that of URLs without `lang`. */
  all: readonly NamedLanguage[];
  /**
   * Whether visitors of this URL get the language of their browser, because SITE_LOCALE includes `auto` and the URL has
   * no `lang`.
   */
  isNegotiated(path: string): boolean;
  /** Returns the `lang` of the URL to which a browser is redirected, or undefined if it is not redirected. */
  negotiate(path: string, acceptLanguage: string | undefined): string | undefined;
}

/** The value of SITE_LOCALE. */
export interface SiteLocale {
  code: string;
  isNegotiated: boolean;
}

const ENGLISH_ONLY: SiteLocale = { code: 'en', isNegotiated: false };

/**
 * Of a longer `Accept-Language` header, only the language ranges that end within this length are parsed, to limit the
 * work per request.
 */
const MAX_HEADER_CHARACTERS = 200;

/** Returns the languages of a site. `scriptOf` returns the URL of a language's messages for the browser. */
export function siteLanguages(
  catalogues: typeof CATALOGUES,
  scriptOf: (code: string) => string | undefined,
  { code: own, isNegotiated: isAuto }: SiteLocale = ENGLISH_ONLY,
): SiteLanguages {
  const english: NamedLanguage = { code: 'en', name: 'English', tag: 'en', locale: 'en-US' };
  const all = [
    english,
    ...Object.entries(catalogues).map(([code, { name, tag = code, locale = tag, dir, messages }]) => {
      return { code, name, tag, locale, dir, messages, script: scriptOf(code) };
    }),
  ]
    .map((language): NamedLanguage => {
      return language.code === own && !isAuto ? language : { ...language, param: language.code };
    })
    .sort((a, b) => Number(b.code === own) - Number(a.code === own));
  const byCode = new Map(all.map((language) => [language.code, language]));
  const { param: _, ...standard } = byCode.get(own) ?? english;
  const params = new Set(all.flatMap(({ param }) => param ?? []));
  const isNegotiated = (path: string) => isAuto && languageIn(path) === undefined;
  return {
    params,
    has: (code) => byCode.has(code),
    of: (path) => byCode.get(languageIn(path) ?? '') ?? standard,
    all,
    isNegotiated,
    negotiate(path, header) {
      if (header === undefined || !isNegotiated(path)) return undefined;
      const code = parseAcceptLanguage(header).find((each) => byCode.has(each));
      return code === own ? undefined : code;
    },
  };
}

/** Returns the codes of an `Accept-Language` header, most preferred first: 'de-CH, fr;q=0.8' → 'de-ch', 'de', 'fr'. */
function parseAcceptLanguage(header: string): string[] {
  const isLong = header.length > MAX_HEADER_CHARACTERS;
  const start = isLong ? header.slice(0, MAX_HEADER_CHARACTERS).replace(/,?[^,]*$/, '') : header;
  const ranges = start.split(',').map((range) => {
    const [tag = '', quality = ''] = range
      .trim()
      .toLowerCase()
      .split(/\s*;\s*q=/);
    return { tag, quality: quality === '' ? 1 : Number(quality) };
  });
  return ranges
    .filter(({ quality }) => quality > 0)
    .sort((a, b) => b.quality - a.quality)
    .flatMap(({ tag }) => [tag, tag.split('-', 1)[0] ?? '']);
}

/** The languages that `lang` may name. If unset, `lang` is ignored. */
export type KnownLanguages = Pick<SiteLanguages, 'params' | 'has'>;

/**
 * Returns the language that a URL names, and whether its `lang` is invalid. `code` is undefined if `lang` is missing,
 * invalid, or the default language, which needs no `lang`.
 */
export function languageOf(query: URLSearchParams, languages: KnownLanguages | undefined) {
  const code = query.get('lang') ?? '';
  const isParam = languages?.params.has(code) ?? false;
  return { code: isParam ? code : undefined, isInvalid: code !== '' && !isParam && languages?.has(code) === false };
}

/** Returns the value of `lang` in a normalized URL. */
function languageIn(path: string): string | undefined {
  return /[?&]lang=([^&]*)/.exec(path)?.[1];
}

/** Returns `path` with the `lang` of the URL `other`, if `other` has one. */
export function inLanguageOf(path: string, other: string): string {
  return withLanguage(path, languageIn(other));
}
