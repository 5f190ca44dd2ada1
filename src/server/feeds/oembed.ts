import type { Oembed } from '../../contract/oembed.ts';
import { paths } from '../../contract/paths.ts';
import { isProductId } from '../../contract/products/product-id.ts';
import type { Product } from '../../contract/products/schema.ts';
import { escapeHtml } from '../pages/escape-html.ts';
import { absoluteUrl, type SiteIdentity } from './site-identity.ts';

/** The size of the picture that `paths.card` gives, in pixels. */
const CARD = { width: 1_200, height: 630 };

/** How wide a card is shown where nothing bounds it. */
const WIDTH = 600;

/** A day: what an embedded card says changes seldom, and its picture shows the count by itself. */
const CACHE_AGE_S = 24 * 60 * 60;

export interface Bounds {
  maxwidth?: number | undefined;
  maxheight?: number | undefined;
}

/**
 * The id of the product whose page an address names, `undefined` for every other address. The host must be the site's; http
 * for https and the other way round is the same page, and so is any query or fragment.
 */
export function productIdOf(site: SiteIdentity, address: string): string | undefined {
  if (!URL.canParse(address)) return undefined;
  const { protocol, host, pathname } = new URL(address);
  if (!/^https?:$/.test(protocol) || host !== new URL(site.url()).host) return undefined;
  const [, id] = /^\/product\/([^/]+)$/.exec(pathname) ?? [];
  return id !== undefined && isProductId(id) ? id : undefined;
}

/** How to show a product elsewhere, no larger than the bounds. */
export function oembedOf(site: SiteIdentity, product: Product, { maxwidth, maxheight }: Bounds): Oembed {
  const scale = Math.min(
    WIDTH / CARD.width,
    (maxwidth ?? WIDTH) / CARD.width,
    (maxheight ?? CARD.height) / CARD.height,
  );
  const width = Math.max(1, Math.floor(CARD.width * scale));
  const height = Math.max(1, Math.floor(CARD.height * scale));
  const page = escapeHtml(absoluteUrl(site, paths.product(product.id)));
  const picture = absoluteUrl(site, paths.card(product.id));
  const hasThumbnail = CARD.width <= (maxwidth ?? CARD.width) && CARD.height <= (maxheight ?? CARD.height);
  const alternative = escapeHtml(`${product.name}, on ${site.name}`);
  return {
    version: '1.0',
    type: 'rich',
    title: product.name,
    author_name: product.maker,
    provider_name: site.name,
    provider_url: absoluteUrl(site, paths.home),
    cache_age: CACHE_AGE_S,
    html: `<a href="${page}"><img src="${escapeHtml(picture)}" width="${width}" height="${height}" alt="${alternative}"></a>`,
    width,
    height,
    ...(hasThumbnail ? { thumbnail_url: picture, thumbnail_width: CARD.width, thumbnail_height: CARD.height } : {}),
  };
}
