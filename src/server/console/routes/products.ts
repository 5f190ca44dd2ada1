import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { CONSOLE_API } from '../../../contract/console/paths.ts';
import {
  type ConsolePage,
  type EditedProduct,
  MAX_ITEMS_PER_REQUEST,
  MAX_LISTED_REMOVALS,
  MAX_REASON_CHARACTERS,
  type ProductDetails,
  type RemovalResult,
  type RemovedProductRecord,
} from '../../../contract/console/records.ts';
import { LIMITS } from '../../../contract/limits.ts';
import { PAGE_QUERY } from '../../../contract/page-query.ts';
import { fieldOf, PRODUCT_ID_PATTERN } from '../../../contract/products/fields.ts';
import type { Product } from '../../../contract/products/schema.ts';
import { TEXT_FORMAT } from '../../../contract/text.ts';
import { CoreError, productNotFound } from '../../../core/core-error.ts';
import { LARGE_CHANGE_ROWS } from '../../../core/counts/block-writes.ts';
import type { Database } from '../../../core/database/database.ts';
import type { PicturePipeline } from '../../../core/pictures/picture-store.ts';
import { browseProducts, listCategories } from '../../../core/products/browse-products.ts';
import { editProduct } from '../../../core/products/edit-product.ts';
import { inspectProduct } from '../../../core/products/get-product.ts';
import { listProducts } from '../../../core/products/list-products.ts';
import { countRowsOf, listRemovals, removeProducts } from '../../../core/products/remove-products.ts';
import { countRemovedRows, restoreProducts } from '../../../core/products/restore-products.ts';
import { versionOf } from '../../../core/products/save-products.ts';
import { END_OF_TIME, UUID_PATTERN } from '../../../core/runtime.ts';
import { launchRules } from '../../../core/submissions/launch-product.ts';
import { receivePictures } from '../../pictures/receive-pictures.ts';
import type { ConsoleOptions } from '../console-options.ts';

const Id = Type.String({ pattern: PRODUCT_ID_PATTERN });
const RemovalId = Type.String({ pattern: UUID_PATTERN });
const Query = Type.Object({
  state: Type.Optional(Type.Union([Type.Literal('all'), Type.Literal('launched'), Type.Literal('scheduled')])),
  q: Type.Optional(Type.String({ maxLength: LIMITS.searchCharacters, format: TEXT_FORMAT })),
  tag: Type.Optional(Type.String({ maxLength: LIMITS.tagCharacters, format: TEXT_FORMAT })),
  category: Type.Optional(Type.String({ maxLength: fieldOf('category').maxCharacters, format: TEXT_FORMAT })),
  sort: Type.Optional(
    Type.Union([Type.Literal('newest'), Type.Literal('top'), Type.Literal('discussed'), Type.Literal('name')]),
  ),
  ...PAGE_QUERY,
});

/** Routes for reading, editing, removing and restoring products. */
export const productRoutes: FastifyPluginAsyncTypebox<ConsoleOptions> = async (
  app,
  { database, withoutStatementTimeout, runtime, launches, pictureFolder },
) => {
  /**
   * Runs a change of many rows without a statement timeout. A change of few rows does not need the additional
   * connection, and opening it would take longer than the change.
   */
  const runChange = <Result>(rows: number, work: (on: Database) => Promise<Result>): Promise<Result> =>
    rows < LARGE_CHANGE_ROWS ? work(database) : withoutStatementTimeout(work);

  app.get(
    CONSOLE_API.products,
    { schema: { querystring: Query } },
    async ({ query: { state, q, category, sort = 'newest', ...query } }): Promise<ConsolePage<Product>> => {
      const now = runtime.now();
      const { limit = LIMITS.pageSize.default, cursor, tag } = query;
      // The query of the public list is fast in each of its sort orders, even for a rare search term. END_OF_TIME
      // includes scheduled products.
      if (state !== 'scheduled' && category === undefined && sort !== 'name')
        return listProducts(database, { ...query, sort, ...(q && { q }) }, state === 'launched' ? now : END_OF_TIME);
      const time = { launched: { launchedBy: now }, scheduled: { scheduledAfter: now }, all: {} }[state ?? 'all'];
      return browseProducts(database, { text: q, tag, category, sort, limit, cursor, ...time });
    },
  );

  app.get(CONSOLE_API.categories, async () => ({ categories: await listCategories(database) }));

  app.get(CONSOLE_API.removedProducts, async (): Promise<ConsolePage<RemovedProductRecord>> => {
    return { items: await listRemovals(database, { limit: MAX_LISTED_REMOVALS }), nextCursor: null };
  });

  app.get(
    CONSOLE_API.product.route,
    { schema: { params: Type.Object({ id: Id }) } },
    async ({ params }): Promise<ProductDetails> => {
      const { product, heldComments, hiddenComments } = await inspectProduct(database, params.id);
      if (product === null) throw productNotFound();
      return { product, version: versionOf(product), heldComments, hiddenComments };
    },
  );

  app.patch(
    CONSOLE_API.product.route,
    {
      bodyLimit: 256 * 1024,
      schema: {
        params: Type.Object({ id: Id }),
        body: Type.Object({ version: Type.String(), values: Type.Record(Type.String(), Type.Unknown()) }),
      },
    },
    async ({ params, body }): Promise<EditedProduct> => {
      const rules = launchRules(runtime, launches.timeZone);
      const { product, auditId } = await editProduct(database, params.id, { ...body, pictureFolder }, rules);
      return { product, version: versionOf(product), auditId };
    },
  );

  app.post(
    CONSOLE_API.removeProducts,
    {
      schema: {
        body: Type.Object({
          ids: Type.Array(Id, { minItems: 1, maxItems: MAX_ITEMS_PER_REQUEST }),
          reason: Type.Optional(Type.String({ maxLength: MAX_REASON_CHARACTERS, format: TEXT_FORMAT })),
        }),
      },
    },
    async ({ body: { ids, reason } }): Promise<RemovalResult> => {
      const { removed, unknown } = await runChange(await countRowsOf(database, ids), (on) =>
        removeProducts(on, ids, reason || undefined, { skipsUnknown: true }),
      );
      return { removed, skipped: unknown };
    },
  );

  app.post(
    CONSOLE_API.restoreProducts,
    {
      schema: {
        body: Type.Object({
          removalIds: Type.Array(RemovalId, { minItems: 1, maxItems: MAX_ITEMS_PER_REQUEST }),
        }),
      },
    },
    async ({ body: { removalIds } }) => {
      const { auditIds, notRemoved, taken } = await runChange(await countRemovedRows(database, removalIds), (on) =>
        restoreProducts(on, { removalIds }, launches.timeZone),
      );
      if (taken.length > 0)
        throw new CoreError(
          'id_taken',
          `Nothing was restored, because other products now have these ids: ${taken.join(', ')}. Remove those products first.`,
        );
      if (notRemoved.length > 0)
        throw new CoreError(
          'not_undoable',
          'Nothing was restored, because one of the removals has already been undone.',
        );
      return { auditIds };
    },
  );
};

const Params = Type.Object({ use: Type.Union([Type.Literal('image'), Type.Literal('screenshot')]) });

/**
 * Stores a picture for a product's editor. No page shows it until an edit saves its URL, so replacing a picture is
 * audited, undone and validated like every other edit. A picture that no edit references is deleted after a day.
 */
export const pictureRoutes: FastifyPluginAsyncTypebox<{ pictures: PicturePipeline }> = async (app, { pictures }) => {
  const receive = receivePictures(app, pictures);
  app.post(CONSOLE_API.pictures.route, { schema: { params: Params } }, async (request, reply) => {
    const address = await receive(request, request.params.use);
    return reply.code(201).send({ address });
  });
};
