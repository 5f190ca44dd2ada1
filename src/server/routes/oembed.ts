import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { type Static, Type } from 'typebox';
import * as paths from '../../contract/paths.ts';
import { isProductId } from '../../contract/products/fields.ts';
import type { Product } from '../../contract/products/schema.ts';
import { matchRoute } from '../../contract/routes.ts';
import { HTTP_URL, TEXT_FORMAT } from '../../contract/text.ts';
import type { Core } from '../../core/core.ts';
import { CoreError, productNotFound } from '../../core/core-error.ts';
import { CARD_SIZE } from '../cards/renderer/card-renderer.ts';
import { REVALIDATE } from '../http/cache-control.ts';
import { absoluteUrl, type SiteIdentity } from '../http/site-identity.ts';
import { escapeHtml } from '../pages/document.ts';

interface Options {
  core: Core;
  site: SiteIdentity;
}

/** Describes to other sites how to embed a product's page (oembed.com, JSON only). */
export const oembedRoutes: FastifyPluginAsyncTypebox<Options> = async (app, { core, site }) => {
  app.get(
    paths.oembed.route,
    { schema: { querystring: OembedQuerySchema, response: { 200: OembedSchema } } },
    async (request, reply) => {
      const { url, format = 'json', ...bounds } = request.query;
      if (format !== 'json') throw new CoreError('not_implemented', 'Only format=json is supported.');
      const id = productIdOf(site, url);
      const found = id === undefined ? null : await core.getProduct(id);
      if (found === null) throw productNotFound();
      reply.header('Cache-Control', REVALIDATE);
      return oembedOf(site, found.product, bounds);
    },
  );
};

/** The default width of an embedded card, in pixels. */
const WIDTH = 600;

/** Consumers may cache a response for a day: the text rarely changes, and the card itself shows the count. */
const CACHE_AGE_S = 24 * 60 * 60;

interface Bounds {
  maxwidth?: number | undefined;
  maxheight?: number | undefined;
}

/**
 * Returns the id of the product whose page has this URL, or undefined. The host must be the site's and the scheme
 * HTTP(S); query and fragment do not matter.
 */
function productIdOf(site: SiteIdentity, address: string): string | undefined {
  if (!HTTP_URL.test(address) || !URL.canParse(address)) return undefined;
  const { host, pathname } = new URL(address);
  if (host !== new URL(site.url()).host) return undefined;
  const page = matchRoute(pathname);
  return page.name === 'product' && isProductId(page.id) ? page.id : undefined;
}

/** Returns the oEmbed response for a product, within the bounds. */
function oembedOf(site: SiteIdentity, product: Product, { maxwidth, maxheight }: Bounds): Oembed {
  const scale = Math.min(
    WIDTH / CARD_SIZE.width,
    (maxwidth ?? WIDTH) / CARD_SIZE.width,
    (maxheight ?? CARD_SIZE.height) / CARD_SIZE.height,
  );
  const width = Math.max(1, Math.floor(CARD_SIZE.width * scale));
  const height = Math.max(1, Math.floor(CARD_SIZE.height * scale));
  const page = escapeHtml(absoluteUrl(site, paths.product(product.id)));
  const picture = absoluteUrl(site, paths.card(product.id));
  const hasThumbnail =
    CARD_SIZE.width <= (maxwidth ?? CARD_SIZE.width) && CARD_SIZE.height <= (maxheight ?? CARD_SIZE.height);
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
    ...(hasThumbnail
      ? { thumbnail_url: picture, thumbnail_width: CARD_SIZE.width, thumbnail_height: CARD_SIZE.height }
      : {}),
  };
}

/** A consumer's request (oembed.com): how to embed the page at `url`. The bounds are in pixels. */
const OembedQuerySchema = Type.Object({
  url: Type.String({ format: TEXT_FORMAT, maxLength: 2_000 }),
  format: Type.Optional(Type.String()),
  maxwidth: Type.Optional(Type.Integer({ minimum: 1 })),
  maxheight: Type.Optional(Type.Integer({ minimum: 1 })),
});

/** The response: a link around the product's card, without a script or a frame. */
const OembedSchema = Type.Object({
  version: Type.Literal('1.0'),
  type: Type.Literal('rich'),
  title: Type.String(),
  author_name: Type.String(),
  provider_name: Type.String(),
  provider_url: Type.String(),
  /** Seconds for which a consumer may cache the response. */
  cache_age: Type.Integer({ minimum: 0 }),
  html: Type.String(),
  width: Type.Integer({ minimum: 1 }),
  height: Type.Integer({ minimum: 1 }),
  thumbnail_url: Type.Optional(Type.String()),
  thumbnail_width: Type.Optional(Type.Integer()),
  thumbnail_height: Type.Optional(Type.Integer()),
});

export type Oembed = Static<typeof OembedSchema>;
