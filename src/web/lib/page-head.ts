/** What a page says about itself to search engines, to previews of links and to readers of feeds. */
export interface PageHead {
  title: string;
  description: string;
  /** The one path under which it is to be found; unset where it is not to be found. */
  canonical?: string;
  /** Not to be found by search engines. */
  noindex?: boolean;
}

/** The same for the document that the server writes, which alone is read by others than people. */
export interface DocumentHead extends PageHead {
  /** The picture that a link to the page shows elsewhere: a path and what is to be seen on it. */
  card?: { path: string; alt: string };
  /** Addresses at which other programs read the same, as paths. */
  alternates?: readonly { type: string; path: string; title: string }[];
  /** Items of schema.org. */
  structuredData?: readonly object[];
}
