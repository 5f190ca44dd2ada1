import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { CONSOLE_API } from '../../../contract/console/paths.ts';
import {
  type CommentAction,
  type ConsoleComment,
  type ConsolePage,
  MAX_ITEMS_PER_REQUEST,
  MAX_REASON_CHARACTERS,
  type ModerationResult,
} from '../../../contract/console/records.ts';
import { LIMITS } from '../../../contract/limits.ts';
import { PAGE_QUERY } from '../../../contract/page-query.ts';
import { TEXT_FORMAT } from '../../../contract/text.ts';
import { browseCommentPage } from '../../../core/comments/browse-comments.ts';
import {
  hideComments,
  holdComments,
  releaseComments,
  restoreComments,
} from '../../../core/comments/moderate-comments.ts';
import type { Database } from '../../../core/database/database.ts';
import { readProductNames } from '../../../core/products/get-product.ts';
import type { ConsoleOptions } from '../console-options.ts';

const Query = Type.Object({
  state: Type.Optional(
    Type.Union([Type.Literal('all'), Type.Literal('public'), Type.Literal('held'), Type.Literal('hidden')]),
  ),
  text: Type.Optional(Type.String({ maxLength: LIMITS.searchCharacters, format: TEXT_FORMAT })),
  product: Type.Optional(Type.String({ maxLength: 64, format: TEXT_FORMAT })),
  ...PAGE_QUERY,
});

const Moderation = Type.Object({
  action: Type.Union([Type.Literal('hide'), Type.Literal('restore'), Type.Literal('hold'), Type.Literal('release')]),
  ids: Type.Array(Type.String({ pattern: '^[0-9a-f-]{36}$' }), { minItems: 1, maxItems: MAX_ITEMS_PER_REQUEST }),
  reason: Type.Optional(Type.String({ maxLength: MAX_REASON_CHARACTERS, format: TEXT_FORMAT })),
});

const STATE_FILTERS = {
  all: {},
  held: { held: true, hidden: false },
  hidden: { hidden: true },
  public: { held: false, hidden: false },
};

/** Routes for reading and moderating comments. */
export const commentRoutes: FastifyPluginAsyncTypebox<ConsoleOptions> = async (app, { database }) => {
  app.get(
    CONSOLE_API.comments,
    { schema: { querystring: Query } },
    async ({ query }): Promise<ConsolePage<ConsoleComment>> => {
      const { state = 'all', text, product: productId, cursor, limit = LIMITS.pageSize.default } = query;
      const filter = { ...STATE_FILTERS[state], text, productId, cursor, limit };
      const { items, nextCursor } = await browseCommentPage(database, filter);
      const names = await readProductNames(database, new Set(items.map((item) => item.productId)));
      return {
        items: items.map((item) => ({ ...item, productName: names.get(item.productId) ?? item.productId })),
        nextCursor,
      };
    },
  );

  app.post(CONSOLE_API.moderateComments, { schema: { body: Moderation } }, ({ body }) => moderate(database, body));
};

const CHANGES = { restore: restoreComments, hold: holdComments, release: releaseComments };

async function moderate(
  database: Database,
  { action, ids, reason }: { action: CommentAction; ids: string[]; reason?: string },
): Promise<ModerationResult> {
  const { done, auditIds, skipped } =
    action === 'hide' ? await hideComments(database, ids, reason || undefined) : await CHANGES[action](database, ids);
  return { done: done.map(({ id }) => id), auditIds, skipped };
}
