import type { ReadApi } from '../../contract/api.ts';
import { paths } from '../../contract/paths.ts';
import type { Product } from '../../contract/products/schema.ts';
import { escapeHtml } from '../pages/document.ts';
import { absoluteUrl, type SiteIdentity } from './site-identity.ts';

/** Enough for a reader that polls once a day not to miss launches on a busy day. */
export const FEED_ENTRIES = 50;

/** A launch as an entry of a feed. */
export interface Launch {
  /** The address of the page, which is the entry's id as well. */
  url: string;
  title: string;
  text: string;
  html: string;
  maker: string;
  tags: readonly string[];
  image: string | undefined;
  /** ISO 8601, UTC. */
  at: string;
}

/** The newest launches. @throws CoreError `unavailable`. */
export async function readLaunches(api: ReadApi, site: SiteIdentity): Promise<Launch[]> {
  const { items } = await api.listProducts({ sort: 'newest', limit: FEED_ENTRIES });
  return items.map((product) => launchOf(product, site));
}

function launchOf(product: Product, site: SiteIdentity): Launch {
  const image = pictureUrl(product.image, site);
  const picture = image === undefined ? '' : `<p><img src="${escapeHtml(image)}" alt=""></p>`;
  return {
    url: absoluteUrl(site, paths.product(product.id)),
    title: product.name,
    text: product.description,
    html: `${picture}${paragraphsOf(product.description)}`,
    maker: product.maker,
    tags: product.tags,
    image,
    at: product.createdAt,
  };
}

/** The absolute address of a picture, unless its scheme is not HTTP(S). */
function pictureUrl(image: string, site: SiteIdentity): string | undefined {
  if (!URL.canParse(image, site.url())) return undefined;
  const url = new URL(image, site.url());
  return /^https?:$/.test(url.protocol) ? url.href : undefined;
}

function paragraphsOf(text: string): string {
  return text
    .split(/\n{2,}/)
    .map((paragraph) => `<p>${escapeHtml(paragraph).replaceAll('\n', '<br>')}</p>`)
    .join('');
}

export const JSON_FEED_MEDIA_TYPE = 'application/feed+json; charset=utf-8';

/** The newest launches as JSON Feed 1.1 (jsonfeed.org). */
export function launchesJsonFeed(site: SiteIdentity, launches: readonly Launch[]): string {
  return JSON.stringify({
    version: 'https://jsonfeed.org/version/1.1',
    title: site.name,
    description: site.tagline ?? `The newest launches on ${site.name}`,
    home_page_url: absoluteUrl(site, paths.home),
    feed_url: absoluteUrl(site, paths.jsonFeed),
    language: 'en',
    ...(site.logo !== undefined && { icon: absoluteUrl(site, site.logo) }),
    items: launches.map(({ url, title, text, html, maker, tags, image, at }) => ({
      id: url,
      url,
      title,
      summary: text,
      content_html: html,
      ...(image === undefined ? {} : { image }),
      date_published: at,
      date_modified: at,
      authors: [{ name: maker }],
      tags,
    })),
  });
}
