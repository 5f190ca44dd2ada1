import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import {
  type Leaderboard,
  LeaderboardListQuerySchema,
  LeaderboardListSchema,
  LeaderboardSchema,
  type LeaderboardSummary,
  type Standing,
  type Standings,
  StandingsSchema,
  TallyHeaderSchema,
  TallyVoteSchema,
} from '../../contract/leaderboards/schema.ts';
import { PageQuerySchema } from '../../contract/page-query.ts';
import * as paths from '../../contract/paths.ts';
import type { Core } from '../../core/core.ts';
import { periodNotFound } from '../../core/core-error.ts';
import { apiResponse, type SendApiResponse, standingsResponse } from '../cache/api-response.ts';
import { clientNetworkOf } from '../limits/network-keys.ts';
import { cursorOf, LIMIT, type Operation, PRODUCT_ID } from '../openapi/parts.ts';
import { sendTally } from './send-tally.ts';

interface Options {
  core: Core;
  send: SendApiResponse;
  /** Whether the number of concurrent tallies per network is limited. */
  isLimited: boolean;
}

/** Routes of leaderboards, their tallies, and the standings of products. */
export const leaderboardRoutes: FastifyPluginAsyncTypebox<Options> = async (app, { core, send, isLimited }) => {
  app.get(
    paths.api.leaderboards,
    {
      config: { operation: OPERATIONS.listLeaderboards },
      schema: { querystring: LeaderboardListQuerySchema, response: { 200: LeaderboardListSchema } },
    },
    (request, reply) => {
      const { kind, limit, cursor } = request.query;
      const key = paths.api.withQuery(paths.api.leaderboards, { kind, limit, cursor });
      const response = apiResponse(core, key, (api) => api.listLeaderboards(request.query));
      return send(response, request, reply, true);
    },
  );

  app.get(
    paths.api.leaderboard.route,
    {
      config: { operation: OPERATIONS.getLeaderboard },
      schema: {
        params: Type.Object({ id: Type.String() }),
        querystring: PageQuerySchema,
        response: { 200: LeaderboardSchema },
      },
    },
    (request, reply) => {
      const { id: period } = request.params;
      const { limit, cursor } = request.query;
      const key = paths.api.withQuery(paths.api.leaderboard(period), { limit, cursor });
      const response = apiResponse(core, key, (api) => api.getLeaderboard(period, request.query), periodNotFound);
      return send(response, request, reply, true);
    },
  );

  app.get(
    paths.api.tally.route,
    {
      schema: { params: Type.Object({ id: Type.String() }) },
      config: { operation: OPERATIONS.getTally, limit: { action: 'search' } },
    },
    (request, reply) => sendTally(core, isLimited ? clientNetworkOf(request) : undefined, request, reply),
  );

  app.get(
    paths.api.standings.route,
    {
      config: { operation: OPERATIONS.getStandings },
      schema: { params: Type.Object({ id: Type.String() }), response: { 200: StandingsSchema } },
    },
    (request, reply) => send(standingsResponse(core, request.params.id), request, reply),
  );
};

const PERIOD_EXAMPLE = {
  period: '2026-11-19',
  kind: 'day',
  from: '2026-11-19T00:00:00.000Z',
  to: '2026-11-20T00:00:00.000Z',
  status: 'final',
  launches: 23,
} as const;

const LEADERBOARD_SUMMARY_EXAMPLE: LeaderboardSummary = {
  ...PERIOD_EXAMPLE,
  winners: [{ productId: 'git', name: 'Git', votes: 9 }],
};

const LEADERBOARD_EXAMPLE: Leaderboard = {
  ...PERIOD_EXAMPLE,
  finalAt: '2026-11-22T00:00:00.000Z',
  revision: 0,
  revisedAt: null,
  digest: 'sha256:0f343b0931126a20f133d67c2b018a3b5c4c8b5d4b7f3c2a1f0e9d8c7b6a5948',
  previousPeriod: '2026-11-18',
  nextPeriod: '2026-11-20',
  items: [
    {
      rank: 1,
      tied: false,
      productId: 'git',
      name: 'Git',
      image: '/pictures/git/tile.svg',
      votes: 9,
      excluded: 1,
      upvotes: 12,
      comments: 3,
      launchedAt: '2026-11-19T09:00:00.000Z',
      windowEndsAt: '2026-11-20T09:00:00.000Z',
    },
  ],
  nextCursor: null,
};

const standingIn = (period: string, launches: number): Standing => ({
  period,
  status: 'final',
  rank: 1,
  tied: false,
  launches,
  votes: 9,
  upvotes: 12,
  excluded: [{ reason: 'network', votes: 1 }],
  votesPerNetwork: 20,
  windowEndsAt: '2026-11-20T09:00:00.000Z',
  above: null,
  below: { productId: 'rust', name: 'Rust', votes: 7 },
});

const STANDINGS_EXAMPLE: Standings = {
  day: standingIn('2026-11-19', 23),
  week: standingIn('2026-W47', 90),
  month: standingIn('2026-11', 310),
  year: standingIn('2026', 2_400),
};

const TALLY_EXAMPLE = `${[
  {
    tally: 1,
    period: '2026-11-19',
    timeZone: 'UTC',
    from: '2026-11-19T00:00:00.000Z',
    to: '2026-11-20T00:00:00.000Z',
    status: 'final',
    revision: 0,
    products: [{ id: 'git', launchedAt: '2026-11-19T09:00:00.000Z' }],
  },
  {
    product: 'git',
    voter: '0f343b0931126a20f133d67c2b018a3b',
    at: '2026-11-19T09:00:07Z',
    counted: true,
    reason: null,
  },
]
  .map((line) => JSON.stringify(line))
  .join('\n')}\n`;

/** The OpenAPI metadata of these routes. */
const OPERATIONS = {
  listLeaderboards: {
    id: 'listLeaderboards',
    tag: 'Leaderboards',
    summary: 'List the periods that have a launch',
    description:
      'Periods are listed newest first, each with at most ten of the products that share the first rank. A launch without counted votes cannot be a winner.',
    isCacheable: true,
    isRateLimited: true,
    parameters: {
      kind: { description: 'The kind of period; `day` by default', example: 'day' },
      limit: LIMIT,
      cursor: cursorOf('leaderboards', '2026-11-19T00:00:00.000Z', '2026-11-19'),
    },
    responses: {
      200: {
        description: 'A page of periods',
        example: { items: [LEADERBOARD_SUMMARY_EXAMPLE], nextCursor: null },
      },
    },
    problems: ['bad_request', 'bad_cursor', 'rate_limited', 'unavailable', 'overloaded'],
  },
  getLeaderboard: {
    id: 'getLeaderboard',
    tag: 'Leaderboards',
    summary: 'Get a leaderboard',
    description:
      'Launches are ordered by counted votes, most first. Launches with equal counts share a rank and are ordered by SHA-256(period + "/" + product id). `digest` is the SHA-256 of the tally of a finalized day.',
    isCacheable: true,
    isRateLimited: true,
    parameters: {
      id: { description: 'A day, an ISO week, a month or a year', example: '2026-11-19' },
      limit: LIMIT,
      cursor: cursorOf('board-day', -9, '0f343b09-3112-6a20-f133-d67c2b018a3b'),
    },
    responses: { 200: { description: 'A page of the leaderboard', example: LEADERBOARD_EXAMPLE } },
    problems: [
      'bad_request',
      'bad_period',
      'bad_cursor',
      'period_not_found',
      'rate_limited',
      'unavailable',
      'overloaded',
    ],
  },
  getTally: {
    id: 'getTally',
    tag: 'Leaderboards',
    summary: 'Get the votes from which the leaderboard of a day was computed',
    description:
      'The file is in JSON Lines format: a header, then a line for each vote that was cast in a launch window, ordered by product, time and voter. Voters are hashes that differ from day to day. The file is never compressed. The `digest` of the leaderboard of a finalized day is the SHA-256 of this file.',
    isCacheable: true,
    parameters: { id: { description: 'A day', example: '2026-11-19' } },
    responses: {
      200: {
        description: 'The tally',
        content: { type: 'application/jsonl', data: Type.Union([TallyHeaderSchema, TallyVoteSchema]) },
        example: TALLY_EXAMPLE,
      },
    },
    problems: ['bad_request', 'bad_period', 'period_not_found', 'rate_limited', 'unavailable', 'overloaded'],
  },
  getStandings: {
    id: 'getStandings',
    tag: 'Leaderboards',
    summary: 'Get the standings of a launch in its day, week, month and year',
    description:
      '`votes` is the number of counted votes; `excluded` is the number of votes in the launch window that do not count, by reason.',
    isCacheable: true,
    parameters: { id: PRODUCT_ID },
    responses: { 200: { description: 'The standing in each period', example: STANDINGS_EXAMPLE } },
    problems: ['bad_request', 'product_not_found', 'unavailable', 'overloaded'],
  },
} satisfies Record<string, Operation>;
