/** What the site is called and where it stands: the only source of absolute links, whatever a request says of its host. */
export interface SiteIdentity {
  name: string;
  /** The origin, without a slash at the end. Known for certain only when the server listens. */
  url(): string;
}

/** An address of the site, as `paths` gives it, as it is written outside of the site. */
export function absoluteUrl(site: SiteIdentity, path: string): string {
  return `${site.url()}${path}`;
}
