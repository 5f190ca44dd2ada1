import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { OembedQuerySchema, OembedSchema } from '../../contract/oembed.ts';
import type { Core } from '../../core/core.ts';
import { CoreError } from '../../core/core-error.ts';
import { productNotFound } from '../../core/products/product-not-found.ts';
import { oembedOf, productIdOf } from '../feeds/oembed.ts';
import type { SiteIdentity } from '../feeds/site-identity.ts';
import { REVALIDATE } from '../http/caching.ts';

interface Options {
  core: Core;
  site: SiteIdentity;
}

/** Tells sites on which somebody pastes a product's address how to show it (oembed.com, JSON only). */
export const oembedRoutes: FastifyPluginAsyncTypebox<Options> = async (app, { core, site }) => {
  app.get(
    '/oembed',
    { schema: { querystring: OembedQuerySchema, response: { 200: OembedSchema } } },
    async (request, reply) => {
      const { url, format = 'json', ...bounds } = request.query;
      if (format !== 'json') throw new CoreError('not_implemented', 'There is only format=json here');
      const id = productIdOf(site, url);
      const found = id === undefined ? null : await core.getProduct(id);
      if (found === null) throw productNotFound();
      reply.header('Cache-Control', REVALIDATE);
      return oembedOf(site, found.product, bounds);
    },
  );
};
