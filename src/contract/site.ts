import type { PageBrand } from './brand.ts';

/** The settings that pages show. Browsers get them too, so they contain no secrets. */
export interface PageSettings {
  /** The value of SITE_TIME_ZONE, an IANA name. Default: UTC. */
  timeZone?: string;
  /** The value of VOTES_PER_NETWORK. */
  votesPerNetwork?: number;
  /** Set if visitors may submit products. Otherwise, pages do not mention submissions. */
  hasSubmissions?: true;
}

/** The site's metadata on every page. */
export interface Site extends PageSettings, PageBrand {
  name: string;
  /** The origin of absolute links, without a trailing slash. */
  url: string;
  /** The current day in the site's time zone when the page was rendered, as `YYYY-MM-DD`; empty if unknown. */
  today: string;
}
