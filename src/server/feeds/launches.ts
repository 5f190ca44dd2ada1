import type { ReadApi } from '../../contract/api.ts';
import { paths } from '../../contract/paths.ts';
import type { Product } from '../../contract/products/schema.ts';
import { escapeHtml } from '../pages/escape-html.ts';
import { absoluteUrl, type SiteIdentity } from './site-identity.ts';

/** Launches that a feed holds: who looks in once a day misses none of a busy day. */
export const FEED_ENTRIES = 50;

/** A launch as feeds tell it. */
export interface Launch {
  /** The page's address is its id as well: it lasts as long as the product and the site's address do. */
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

/** A picture's address, where it is one that a reader may load. */
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
