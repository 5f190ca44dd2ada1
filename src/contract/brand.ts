/** One of the three articles of the section "Product Landscapes". */
export interface Article {
  title: string;
  excerpt: string;
  author: string;
  subtitle: string;
}

/** The operator's brand on pages. Unset properties look as specified. */
export interface PageBrand {
  /** SITE_TAGLINE. */
  tagline?: string;
  /** The address of SITE_LOGO. */
  logo?: string;
  /** SITE_ARTICLES. */
  articles?: readonly Article[];
}

/** The specified tagline. */
export const TAGLINE = 'The place to discover and launch innovative tech products. Explore the wave.';

/** A site in one sentence, for its pages, previews and feeds. */
export function taglineOf({ tagline = TAGLINE }: Pick<PageBrand, 'tagline'>): string {
  return tagline;
}
