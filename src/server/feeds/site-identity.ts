/** What the site is called and where it stands: the only source of absolute links, whatever a request says of its host. */
export interface SiteIdentity {
  name: string;
  /** The origin, without a slash at the end. Known for certain only when the server listens. */
  url(): string;
}

/** An address of the site as it is written outside of it. A picture may be an address of its own already. */
export function absoluteUrl(site: SiteIdentity, address: string): string {
  return new URL(address, site.url()).href;
}
