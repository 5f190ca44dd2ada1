import { paths } from '../../contract/paths.ts';
import type { ProductAddress, ProductStretch } from '../../core/products/product-addresses.ts';
import { absoluteUrl, type SiteIdentity } from './site-identity.ts';
import { element, type Xml, xmlDocument } from './xml.ts';

export const SITEMAP_MEDIA_TYPE = 'application/xml; charset=utf-8';

/** Addresses that one file may hold (sitemaps.org). */
export const MAX_SITEMAP_URLS = 50_000;

/** Addresses of a shard: about a megabyte, so that making one takes little time and memory, and room for what comes in between. */
export const SHARD_URLS = 10_000;

const NAMESPACE = { xmlns: 'http://www.sitemaps.org/schemas/sitemap/0.9' };

/** Where a shard is found. Its address says what is in it: every process knows it, and it stays while its stretch does. */
const shardPath = ({ after, upTo }: ProductStretch) => `/sitemap/${after}~${upTo}.xml`;

/** The stretch that a shard's name stands for; `undefined` where the name has not that form. Its cursors are not checked. */
export function stretchOf(shardName: string): ProductStretch | undefined {
  const [, after, upTo] = /^([\w-]*)~([\w-]*)\.xml$/.exec(shardName) ?? [];
  return after === undefined || upTo === undefined ? undefined : { after, upTo };
}

/** Writes a file of addresses as they come, so that only their text is held. The home page stands in the first one. */
export async function urlSet(
  site: SiteIdentity,
  batches: AsyncIterable<readonly ProductAddress[]>,
  { withHome }: { withHome: boolean },
): Promise<string> {
  const parts = withHome ? [entry('url', absoluteUrl(site, paths.home))] : [];
  let hasEntries = withHome;
  for await (const batch of batches) {
    hasEntries ||= batch.length > 0;
    const entries = batch.map(({ id, createdAt }) => entry('url', absoluteUrl(site, paths.product(id)), createdAt));
    parts.push({ markup: entries.map(({ markup }) => markup).join('\n') });
  }
  // The format wants one address at least.
  if (!hasEntries) parts.push(entry('url', absoluteUrl(site, paths.home)));
  return xmlDocument(element('urlset', NAMESPACE, parts));
}

/** Names the shards, and when the newest page of each came. */
export function sitemapIndex(site: SiteIdentity, shards: readonly (ProductStretch & { newestAt: string })[]): string {
  const entries = shards.map((shard) => entry('sitemap', absoluteUrl(site, shardPath(shard)), shard.newestAt));
  return xmlDocument(element('sitemapindex', NAMESPACE, entries));
}

function entry(name: 'url' | 'sitemap', address: string, lastModified?: string): Xml {
  const dated = lastModified === undefined ? [] : [element('lastmod', {}, lastModified)];
  return element(name, {}, [element('loc', {}, address), ...dated]);
}
