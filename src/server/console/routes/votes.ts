import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { CONSOLE_API } from '../../../contract/console/paths.ts';
import {
  type BurstRecord,
  type ConsolePage,
  MAX_LISTED_BURSTS,
  MAX_LISTED_VOTES,
  MAX_REASON_CHARACTERS,
  type VoteList,
} from '../../../contract/console/records.ts';
import { PRODUCT_ID_PATTERN } from '../../../contract/products/fields.ts';
import { INSTANT_FORMAT, VISIBLE_FORMAT } from '../../../contract/text.ts';
import { changeVerdicts } from '../../../core/leaderboards/change-verdicts.ts';
import { listVotes } from '../../../core/leaderboards/list-votes.ts';
import { DAY_MS } from '../../../core/runtime.ts';
import { BURST_DAYS, listUpvoteBursts } from '../../../core/stats/upvote-bursts.ts';
import type { ConsoleOptions } from '../console-options.ts';

const Params = Type.Object({ id: Type.String({ pattern: PRODUCT_ID_PATTERN }) });
const Instant = Type.String({ format: INSTANT_FORMAT });
const Verdict = Type.Object({
  action: Type.Union([Type.Literal('exclude'), Type.Literal('include')]),
  reason: Type.String({ maxLength: MAX_REASON_CHARACTERS, format: VISIBLE_FORMAT }),
  voters: Type.Array(Type.String({ pattern: '^[0-9a-f]{32}$' }), { minItems: 1, maxItems: 10_000 }),
});

/** Enough for the hashes of 10,000 voters. */
export const MAX_VOTES_BODY_BYTES = 512 * 1024;

/** Lists bursts of votes and the votes of a launch, and excludes or includes votes. */
export const voteRoutes: FastifyPluginAsyncTypebox<ConsoleOptions> = async (
  app,
  { database, withoutStatementTimeout, runtime, recordEvents, launches: { votesPerNetwork } },
) => {
  app.get(CONSOLE_API.bursts, async (): Promise<ConsolePage<BurstRecord>> => {
    const since = new Date(runtime.now().getTime() - BURST_DAYS * DAY_MS);
    return { items: await listUpvoteBursts(database, { since, limit: MAX_LISTED_BURSTS }), nextCursor: null };
  });

  app.get(
    CONSOLE_API.votes.route,
    {
      schema: {
        params: Params,
        querystring: Type.Object({ from: Type.Optional(Instant), to: Type.Optional(Instant) }),
      },
    },
    ({ params, query: { from, to } }): Promise<VoteList> =>
      withoutStatementTimeout((unlimited) =>
        listVotes(unlimited, params.id, {
          ...{ limit: MAX_LISTED_VOTES, runtime },
          from: from ? new Date(from) : undefined,
          to: to ? new Date(to) : undefined,
        }),
      ),
  );

  app.post(
    CONSOLE_API.votes.route,
    { bodyLimit: MAX_VOTES_BODY_BYTES, schema: { params: Params, body: Verdict } },
    ({ params, body: { action, reason, voters } }) =>
      withoutStatementTimeout((unlimited) =>
        changeVerdicts(
          unlimited,
          { productId: params.id, action, reason, selection: { voters } },
          runtime,
          recordEvents,
          votesPerNetwork,
        ),
      ),
  );
};
