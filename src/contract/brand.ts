/** One of the three articles of the section "Product Landscapes". */
export interface Article {
  title: string;
  excerpt: string;
  author: string;
  subtitle: string;
}

/** The operator's branding of pages. Unset properties default to the appearance that the specification prescribes. */
export interface PageBrand {
  /** The value of SITE_TAGLINE. */
  tagline?: string;
  /** The URL path of the file that SITE_LOGO names. */
  logo?: string;
  /** The content of the file that SITE_ARTICLES names. */
  articles?: readonly Article[];
}

/** The tagline of the specification. */
const TAGLINE = 'The place to discover and launch innovative tech products. Explore the wave.';

/** Returns the sentence that describes a site on its pages, in link previews and in the web app manifest. */
export function taglineOf({ tagline = TAGLINE }: Pick<PageBrand, 'tagline'>): string {
  return tagline;
}
