import { resolve } from 'node:path';
import { readAccent } from './accent.ts';
import { oneLine } from './read-value.ts';

/** The maximum length of a tagline, about twice the length of the default. */
const MAX_CHARACTERS = 160;

/** The branding settings except SITE_NAME, keyed by property name. `brand.ts` reads the files. */
export const BRAND_SETTINGS = {
  siteTagline: {
    name: 'SITE_TAGLINE',
    default: undefined,
    read: oneLine(MAX_CHARACTERS),
    about: '[Tagline](#site_tagline-site_logo-site_accent-and-site_articles) in the header and in link previews',
  },
  siteLogo: {
    name: 'SITE_LOGO',
    default: undefined,
    read: (text: string) => resolve(text),
    about: 'PNG, SVG or WebP file of at most 32 KiB that replaces the default logo',
  },
  accent: {
    name: 'SITE_ACCENT',
    default: undefined,
    read: readAccent,
    about: 'Colour of votes and main buttons as `#rrggbb`, with a contrast of at least 4.5:1 on white',
  },
  siteArticles: {
    name: 'SITE_ARTICLES',
    default: undefined,
    read: (text: string) => resolve(text),
    about: 'JSON file with the three articles beside the list',
  },
} as const;
