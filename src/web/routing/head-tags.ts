export const META_DESCRIPTION_CHARACTERS = 160;

/** Selects the tags that describe only the loaded document. */
const OF_LOADED_PAGE = 'link[rel="alternate"],script[type="application/ld+json"],meta[property],meta[name^="twitter:"]';

/** Replaces the tags of the loaded document with those of another page. `canonical` is an absolute URL. */
export function writeHeadTags({ description, noindex, canonical }: HeadTags): void {
  for (const element of document.head.querySelectorAll(OF_LOADED_PAGE)) element.remove();
  setTag('meta', 'name', 'description', 'content', clampText(description, META_DESCRIPTION_CHARACTERS));
  setTag('meta', 'name', 'robots', 'content', noindex ? 'noindex' : undefined);
  setTag('link', 'rel', 'canonical', 'href', canonical);
}

interface HeadTags {
  description: string;
  noindex: boolean;
  canonical: string | undefined;
}

/** Sets a tag or, without a value, removes it. */
function setTag(element: string, key: string, name: string, attribute: string, value: string | undefined): void {
  const found = document.head.querySelector(`${element}[${key}="${name}"]`);
  if (value === undefined) {
    found?.remove();
    return;
  }
  const tag = found ?? document.head.appendChild(document.createElement(element));
  tag.setAttribute(key, name);
  tag.setAttribute(attribute, value);
}

/** The number of UTF-16 code units to examine per visible character. Flag and family emoji have many code units. */
const UNITS_PER_CHARACTER = 32;

/**
 * The minimum share of the limit that truncation at a word boundary must leave. Otherwise the text is truncated within
 * a word, because some scripts have no spaces.
 */
const MIN_SHOWN_SHARE = 0.6;

const segmenter = typeof Intl.Segmenter === 'function' ? /* @__PURE__ */ new Intl.Segmenter('en') : null;

/**
 * Returns text as one line of at most `limit` visible characters. Longer text is truncated at a word boundary, with an
 * ellipsis.
 */
export function clampText(text: string, limit: number): string {
  const examined = text.slice(0, limit * UNITS_PER_CHARACTER);
  // One character beyond the limit shows that the text is too long, so the rest is not examined.
  const characters = firstCharacters(examined.replace(/\s+/g, ' ').trim(), limit + 1);
  if (examined.length === text.length && characters.length <= limit) return characters.join('');
  // `slice` may have cut the last character in half.
  const end = Math.min(limit - 1, characters.length - 1);
  const space = characters[end] === ' ' ? end : characters.lastIndexOf(' ', end);
  const shown = characters.slice(0, space > limit * MIN_SHOWN_SHARE ? space : end);
  return `${shown.join('').replace(/[\s,;:.–—-]+$/u, '')}…`;
}

/** ASCII text, in which each code unit is one character, because all combining characters are outside ASCII. */
const PLAIN = /^[ -~]*$/;

function firstCharacters(line: string, count: number): string[] {
  // ASCII text is split into code units, because segmenting is slow compared with rendering the page.
  const start = line.slice(0, count + 1);
  if (PLAIN.test(start)) return Array.from(start).slice(0, count);
  if (segmenter === null) return Array.from(line).slice(0, count);
  const characters: string[] = [];
  for (const { segment } of segmenter.segment(line)) {
    if (characters.push(segment) === count) break;
  }
  return characters;
}
