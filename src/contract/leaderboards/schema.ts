import { type Static, Type } from 'typebox';
import { PAGE_QUERY } from '../page-query.ts';

const KindSchema = Type.Union([Type.Literal('day'), Type.Literal('week'), Type.Literal('month'), Type.Literal('year')]);
const StatusSchema = Type.Union([Type.Literal('open'), Type.Literal('provisional'), Type.Literal('final')]);
const ReasonSchema = Type.Union([Type.Literal('network'), Type.Literal('operator')]);
const CursorSchema = Type.Union([Type.String(), Type.Null()]);
const CountSchema = Type.Integer({ minimum: 0 });
const NameSchema = Type.String({
  description: 'A day `2026-11-21`, an ISO week `2026-W47`, a month `2026-11` or a year `2026`.',
});

/** The period of a leaderboard. `from` is inclusive, `to` is exclusive. Times are ISO 8601 in UTC. */
const periodFields = {
  period: NameSchema,
  kind: KindSchema,
  from: Type.String(),
  to: Type.String(),
  status: StatusSchema,
};

export const LeaderboardListQuerySchema = Type.Object({
  kind: Type.Optional(KindSchema),
  ...PAGE_QUERY,
});

/** A period in the list of leaderboards, with up to ten products that share first place and have at least one vote. */
export const LeaderboardSummarySchema = Type.Object(
  {
    ...periodFields,
    launches: CountSchema,
    winners: Type.Array(Type.Object({ productId: Type.String(), name: Type.String(), votes: CountSchema })),
  },
  { $id: 'LeaderboardSummary' },
);

export const LeaderboardListSchema = Type.Object(
  { items: Type.Array(LeaderboardSummarySchema), nextCursor: CursorSchema },
  { $id: 'LeaderboardList' },
);

/**
 * A launch on a leaderboard. `votes` is the number of counted votes, `excluded` is the number of votes in the launch
 * window that do not count, and `upvotes` is the number of all upvotes, which the button shows.
 */
const LeaderboardEntrySchema = Type.Object(
  {
    rank: Type.Integer({ minimum: 1 }),
    tied: Type.Boolean(),
    productId: Type.String(),
    name: Type.String(),
    image: Type.String(),
    votes: CountSchema,
    excluded: CountSchema,
    upvotes: CountSchema,
    comments: CountSchema,
    launchedAt: Type.String(),
    windowEndsAt: Type.String(),
  },
  { $id: 'LeaderboardEntry' },
);

/** One page of a leaderboard. For a finalized day, `digest` is `sha256:<hex>` of the tally; otherwise, it is null. */
export const LeaderboardSchema = Type.Object(
  {
    ...periodFields,
    finalAt: Type.String(),
    /** The number of corrections since the result became final. `revisedAt` is the time of the last correction. */
    revision: CountSchema,
    revisedAt: Type.Union([Type.String(), Type.Null()]),
    digest: Type.Union([Type.String(), Type.Null()]),
    launches: CountSchema,
    /** The adjacent periods; null if they have no leaderboard. */
    previousPeriod: Type.Union([Type.String(), Type.Null()]),
    nextPeriod: Type.Union([Type.String(), Type.Null()]),
    items: Type.Array(LeaderboardEntrySchema),
    nextCursor: CursorSchema,
  },
  { $id: 'Leaderboard' },
);

const NeighbourSchema = Type.Union([
  Type.Object({ productId: Type.String(), name: Type.String(), votes: CountSchema }),
  Type.Null(),
]);

/** The standing of a launch in one period. `above` and `below` are the launch's neighbours on the board. */
const StandingSchema = Type.Object({
  period: NameSchema,
  status: StatusSchema,
  rank: Type.Integer({ minimum: 1 }),
  tied: Type.Boolean(),
  launches: CountSchema,
  votes: CountSchema,
  upvotes: CountSchema,
  excluded: Type.Array(Type.Object({ reason: ReasonSchema, votes: CountSchema })),
  votesPerNetwork: Type.Integer({
    minimum: 1,
    description:
      'How many votes of one network count: the cap with which the day became final, otherwise the current one.',
  }),
  windowEndsAt: Type.String(),
  above: NeighbourSchema,
  below: NeighbourSchema,
});

export const StandingsSchema = Type.Object(
  { day: StandingSchema, week: StandingSchema, month: StandingSchema, year: StandingSchema },
  { $id: 'Standings' },
);

/** The number of counted votes cast in one hour of the launch window. */
export const HourlyVotesSchema = Type.Object({ from: Type.String(), votes: CountSchema }, { $id: 'HourlyVotes' });

/** The first line of a tally. */
export const TallyHeaderSchema = Type.Object(
  {
    tally: Type.Literal(1),
    period: Type.String(),
    timeZone: Type.String(),
    from: Type.String(),
    to: Type.String(),
    status: StatusSchema,
    revision: CountSchema,
    products: Type.Array(Type.Object({ id: Type.String(), launchedAt: Type.String() })),
  },
  { $id: 'TallyHeader' },
);

/** Each further line of a tally: a vote in the launch window of its product. `at` has a precision of seconds. */
export const TallyVoteSchema = Type.Object(
  {
    product: Type.String(),
    voter: Type.String(),
    at: Type.String(),
    counted: Type.Boolean(),
    reason: Type.Union([ReasonSchema, Type.Null()]),
  },
  { $id: 'TallyVote' },
);

export type LeaderboardStatus = Static<typeof StatusSchema>;
export type ExclusionReason = Static<typeof ReasonSchema>;
export type LeaderboardListQuery = Static<typeof LeaderboardListQuerySchema>;
export type LeaderboardSummary = Static<typeof LeaderboardSummarySchema>;
export type LeaderboardList = Static<typeof LeaderboardListSchema>;
export type LeaderboardEntry = Static<typeof LeaderboardEntrySchema>;
export type Leaderboard = Static<typeof LeaderboardSchema>;
export type Standing = Static<typeof StandingSchema>;
export type Standings = Static<typeof StandingsSchema>;
export type HourlyVotes = Static<typeof HourlyVotesSchema>;
