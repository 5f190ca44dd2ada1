import type { Settings } from '../settings/settings.ts';

/** Returns the address at which a site with these settings listens on this machine. */
export function localAddress({ host, port }: Pick<Settings, 'host' | 'port'>): string {
  const name = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`;
}

/** Returns the origin of links to the site: SITE_URL, or the local address if SITE_URL is unset. */
export function linkOrigin(settings: Pick<Settings, 'siteUrl' | 'host' | 'port'>): string {
  return settings.siteUrl ?? localAddress(settings);
}
