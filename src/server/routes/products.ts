import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import * as paths from '../../contract/paths.ts';
import { writeListCursor } from '../../contract/products/list-cursor.ts';
import {
  ProductDetailSchema,
  ProductListQuerySchema,
  ProductPageSchema,
  RelatedProductsSchema,
} from '../../contract/products/schema.ts';
import type { Core } from '../../core/core.ts';
import { apiResponse, productResponse, relatedResponse, type SendApiResponse } from '../cache/api-response.ts';
import { cursorOf, LIMIT, type Operation, PRODUCT_EXAMPLE, PRODUCT_ID } from '../openapi/parts.ts';

interface Options {
  core: Core;
  send: SendApiResponse;
}

export const productRoutes: FastifyPluginAsyncTypebox<Options> = async (app, { core, send }) => {
  app.get(
    paths.api.products,
    {
      config: { operation: OPERATIONS.listProducts },
      schema: { querystring: ProductListQuerySchema, response: { 200: ProductPageSchema } },
    },
    (request, reply) => {
      const { q, tag, sort, limit, cursor } = request.query;
      const key = paths.api.withQuery(paths.api.products, { q, tag, sort, limit, cursor });
      const response = apiResponse(core, key, (api) => api.listProducts(request.query));
      return send(response, request, reply, Boolean(q || tag || cursor));
    },
  );

  app.get(
    paths.api.product.route,
    {
      config: { operation: OPERATIONS.getProduct },
      schema: { params: Type.Object({ id: Type.String() }), response: { 200: ProductDetailSchema } },
    },
    (request, reply) => send(productResponse(core, request.params.id), request, reply),
  );

  app.get(
    paths.api.related.route,
    {
      config: { operation: OPERATIONS.getRelatedProducts },
      schema: { params: Type.Object({ id: Type.String() }), response: { 200: RelatedProductsSchema } },
    },
    (request, reply) => send(relatedResponse(core, request.params.id), request, reply),
  );
};

const TOP_CURSOR = cursorOf('top', 12, 'git');
const LIST_CURSOR = { ...TOP_CURSOR, example: writeListCursor(TOP_CURSOR.example, 30) };

/** The OpenAPI metadata of these routes. */
const OPERATIONS = {
  listProducts: {
    id: 'listProducts',
    tag: 'Products',
    summary: 'List and search products',
    description:
      'A page filtered by `q` or `tag` may contain fewer items than `limit`, even none, and still have a `nextCursor`: only `nextCursor: null` marks the last page.',
    isCacheable: true,
    isRateLimited: true,
    parameters: {
      q: {
        description: 'Only products whose name or description contains this text, ignoring case',
        example: 'version',
      },
      tag: { description: 'Only products with this tag, ignoring case', example: 'Command line' },
      sort: {
        description:
          'Sort order: `newest` (the default), `top` (most upvotes first) or `discussed` (most comments first)',
        example: 'top',
      },
      limit: LIMIT,
      cursor: LIST_CURSOR,
    },
    responses: {
      200: {
        description: 'A page of products',
        example: { items: [PRODUCT_EXAMPLE], nextCursor: LIST_CURSOR.example },
      },
    },
    problems: ['bad_request', 'bad_cursor', 'rate_limited', 'unavailable', 'overloaded'],
  },
  getProduct: {
    id: 'getProduct',
    tag: 'Products',
    summary: 'Get a product',
    description:
      'The response includes the ids of the previous and the next product in the order `newest`, or `null` at the ends of the list.',
    isCacheable: true,
    parameters: { id: PRODUCT_ID },
    responses: {
      200: {
        description: 'The product and its neighbours',
        example: { product: PRODUCT_EXAMPLE, previousId: 'threejs', nextId: null },
      },
    },
    problems: ['bad_request', 'product_not_found', 'unavailable'],
  },
  getRelatedProducts: {
    id: 'getRelatedProducts',
    tag: 'Products',
    summary: 'List related products',
    description:
      'Lists up to six products that share tags with this one. Rare tags weigh more. Upvote counts, which may be a minute old, break ties.',
    isCacheable: true,
    parameters: { id: PRODUCT_ID },
    responses: {
      200: {
        description: 'The related products, closest first; empty if no product shares a tag',
        example: {
          items: [{ id: 'neovim', name: 'Neovim', image: '/pictures/neovim/tile.svg', sharedTags: ['Command line'] }],
        },
      },
    },
    problems: ['bad_request', 'product_not_found', 'unavailable'],
  },
} satisfies Record<string, Operation>;
