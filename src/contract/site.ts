/** One of the three articles of the section "Product Landscapes". */
export interface Article {
  title: string;
  excerpt: string;
  author: string;
  subtitle: string;
}

/** The operator's branding. If a property is unset, pages have the appearance that the specification prescribes. */
export interface PageBrand {
  /** The value of SITE_TAGLINE. */
  tagline?: string;
  /** The URL path of the file that SITE_LOGO names. */
  logo?: string;
  /** The content of the file that SITE_ARTICLES names. */
  articles?: readonly Article[];
}

/** The settings that pages use. Browsers receive them, so they must not contain secrets. */
export interface PageSettings {
  /** The value of SITE_TIME_ZONE, an IANA name. Default: UTC. */
  timeZone?: string;
  /** The value of VOTES_PER_NETWORK. */
  votesPerNetwork?: number;
  /** Set if visitors may submit products. If unset, pages do not mention submissions. */
  hasSubmissions?: true;
}

/** The languages of the pages: English, and one for each catalogue in `src/web/language/catalogues`. */
export const LANGUAGE_CODES: readonly string[] = ['ar', 'de', 'en', 'es', 'fr', 'ja', 'pt', 'zh'];

/** The site's metadata on every page. */
export interface Site extends PageSettings, PageBrand {
  name: string;
  /** The origin of absolute links, without a trailing slash. */
  url: string;
  /** The current day in the site's time zone when the page was rendered, as `YYYY-MM-DD`; empty if unknown. */
  today: string;
  /** Set if visitors may read the moderation log. */
  hasModerationLog?: true;
}

/** The default tagline, which the specification prescribes. */
const TAGLINE = 'The place to discover and launch innovative tech products. Explore the wave.';

/** Returns the sentence that describes a site on its pages, in link previews and in the web app manifest. */
export function taglineOf({ tagline = TAGLINE }: Pick<PageBrand, 'tagline'>): string {
  return tagline;
}
