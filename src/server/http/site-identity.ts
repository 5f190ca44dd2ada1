import type { PageBrand, PageSettings } from '../../contract/site.ts';

/**
 * The site's name, brand and origin: the only source of absolute links, which never depend on a request's Host header.
 */
export interface SiteIdentity extends PageSettings, PageBrand {
  name: string;
  /** The origin, without a trailing slash. Not final until the server listens. */
  url(): string;
}

export function absoluteUrl(site: SiteIdentity, path: string): string {
  return `${site.url()}${path}`;
}
