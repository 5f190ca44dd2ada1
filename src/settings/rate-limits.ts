import { DEFAULT_STREAM_LIMITS } from './stream-limits.ts';

/** How often something may be done: `amount` times in any stretch of `seconds`, refilled continuously. */
export interface Rate {
  amount: number;
  seconds: number;
}

/**
 * The limits of one action. `session` is what one browser may do, `network` what all browsers of one network prefix may
 * do together (IPv4 /24, IPv6 /64): sessions are free to make up, networks are not.
 */
export interface ActionLimits {
  session?: Rate;
  network: Rate;
}

/**
 * Every limit, with its default. `search` counts what the database is really asked for; other reads are not limited,
 * since an answer that everyone shares costs next to nothing.
 */
export const DEFAULT_RATE_LIMITS = {
  upvote: { session: { amount: 120, seconds: 60 }, network: { amount: 600, seconds: 60 } },
  comment: { session: { amount: 10, seconds: 60 }, network: { amount: 60, seconds: 60 } },
  like: { session: { amount: 120, seconds: 60 }, network: { amount: 600, seconds: 60 } },
  search: { network: { amount: 20, seconds: 1 } },
} as const satisfies Record<string, ActionLimits>;

export type LimitedAction = keyof typeof DEFAULT_RATE_LIMITS;
export type RateLimits = Readonly<Record<LimitedAction, ActionLimits>>;

/** Makes the limits of the table with other amounts where `amountOf` knows one; the stretches of time stay. */
export function rateLimitsOf(amountOf: (setting: RateLimitSetting) => number): RateLimits {
  const { upvote, comment, like, search } = DEFAULT_RATE_LIMITS;
  return {
    upvote: {
      session: { ...upvote.session, amount: amountOf('LIMIT_UPVOTES_PER_SESSION') },
      network: { ...upvote.network, amount: amountOf('LIMIT_UPVOTES_PER_NETWORK') },
    },
    comment: {
      session: { ...comment.session, amount: amountOf('LIMIT_COMMENTS_PER_SESSION') },
      network: { ...comment.network, amount: amountOf('LIMIT_COMMENTS_PER_NETWORK') },
    },
    like: {
      session: { ...like.session, amount: amountOf('LIMIT_LIKES_PER_SESSION') },
      network: { ...like.network, amount: amountOf('LIMIT_LIKES_PER_NETWORK') },
    },
    search: { network: { ...search.network, amount: amountOf('LIMIT_SEARCHES_PER_NETWORK') } },
  };
}

/** The settings that hold the amounts, with their defaults as an operator would write them. */
export const RATE_LIMIT_SETTINGS = {
  LIMIT_UPVOTES_PER_SESSION: `${DEFAULT_RATE_LIMITS.upvote.session.amount}`,
  LIMIT_UPVOTES_PER_NETWORK: `${DEFAULT_RATE_LIMITS.upvote.network.amount}`,
  LIMIT_COMMENTS_PER_SESSION: `${DEFAULT_RATE_LIMITS.comment.session.amount}`,
  LIMIT_COMMENTS_PER_NETWORK: `${DEFAULT_RATE_LIMITS.comment.network.amount}`,
  LIMIT_LIKES_PER_SESSION: `${DEFAULT_RATE_LIMITS.like.session.amount}`,
  LIMIT_LIKES_PER_NETWORK: `${DEFAULT_RATE_LIMITS.like.network.amount}`,
  LIMIT_SEARCHES_PER_NETWORK: `${DEFAULT_RATE_LIMITS.search.network.amount}`,
  LIMIT_STREAMS_PER_NETWORK: `${DEFAULT_STREAM_LIMITS.perNetwork}`,
} as const;

export type RateLimitSetting = keyof typeof RATE_LIMIT_SETTINGS;
