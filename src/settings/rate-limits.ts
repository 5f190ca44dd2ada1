import { wholeNumber } from './read-value.ts';

/** A rate: `amount` requests per `seconds`, refilled continuously. */
export interface Rate {
  amount: number;
  seconds: number;
}

/**
 * The limits of one action. `session` applies to one browser. `network` applies to all browsers of one network prefix
 * (IPv4 /24, IPv6 /64), because anyone can invent session ids, but not IP addresses. An IPv6 /48 has eight times the
 * limit.
 */
interface ActionLimits {
  session?: Rate;
  network: Rate;
}

/**
 * All limits with their defaults. `search` also covers other expensive reads, such as tallies, sitemap shards and new
 * share images. Cached search results are not counted, because serving them is cheap.
 */
export const DEFAULT_RATE_LIMITS = {
  upvote: { session: { amount: 120, seconds: 60 }, network: { amount: 600, seconds: 60 } },
  comment: { session: { amount: 10, seconds: 60 }, network: { amount: 60, seconds: 60 } },
  like: { session: { amount: 120, seconds: 60 }, network: { amount: 600, seconds: 60 } },
  submission: { session: { amount: 10, seconds: 3_600 }, network: { amount: 20, seconds: 3_600 } },
  /** Requests that create, read or change a submission, even if they fail. Uploads have their own limit. */
  maker: { session: { amount: 120, seconds: 60 }, network: { amount: 600, seconds: 60 } },
  /**
   * Uploads of pictures, each of which is stored for at least a day. They are refused while the disk is nearly full.
   */
  picture: { network: { amount: 200, seconds: 3_600 } },
  search: { network: { amount: 20, seconds: 1 } },
} as const satisfies Record<string, ActionLimits>;

export type LimitedAction = keyof typeof DEFAULT_RATE_LIMITS;
export type RateLimits = Readonly<Record<LimitedAction, ActionLimits>>;

/** The maximum numbers of open event streams. */
export interface StreamLimits {
  perProcess: number;
  /** If undefined, only the limit per process applies. */
  perNetwork: number | undefined;
}

/**
 * 5,000 streams need about 70 MB. A network, which may be a company behind one IP address, gets a tenth of them. A
 * client that gets no stream polls instead.
 */
export const DEFAULT_STREAM_LIMITS = { perProcess: 5_000, perNetwork: 500 } as const satisfies StreamLimits;

const { upvote, comment, like, submission, maker, picture, search } = DEFAULT_RATE_LIMITS;

const HINT = ' (RATE_LIMITS=off disables the limits per visitor and network)';
const readAmount = wholeNumber(1, 9_999_999, 'is invalid: a limit must be a number', HINT);

/** The limit settings, keyed by property name. */
export const LIMIT_SETTINGS = {
  upvotesPerSession: amount(
    'LIMIT_UPVOTES_PER_SESSION',
    upvote.session.amount,
    'Upvotes and withdrawals per minute from one session',
  ),
  upvotesPerNetwork: amount(
    'LIMIT_UPVOTES_PER_NETWORK',
    upvote.network.amount,
    'Upvotes and withdrawals per minute from one network',
  ),
  commentsPerSession: amount(
    'LIMIT_COMMENTS_PER_SESSION',
    comment.session.amount,
    'Comments per minute from one session',
  ),
  commentsPerNetwork: amount(
    'LIMIT_COMMENTS_PER_NETWORK',
    comment.network.amount,
    'Comments per minute from one network',
  ),
  likesPerSession: amount('LIMIT_LIKES_PER_SESSION', like.session.amount, 'Likes per minute from one session'),
  likesPerNetwork: amount('LIMIT_LIKES_PER_NETWORK', like.network.amount, 'Likes per minute from one network'),
  submissionsPerSession: amount(
    'LIMIT_SUBMISSIONS_PER_SESSION',
    submission.session.amount,
    'Submissions per hour from one session',
  ),
  submissionsPerNetwork: amount(
    'LIMIT_SUBMISSIONS_PER_NETWORK',
    submission.network.amount,
    'Submissions per hour from one network',
  ),
  searchesPerNetwork: amount(
    'LIMIT_SEARCHES_PER_NETWORK',
    search.network.amount,
    'Uncached searches and similar reads, such as sitemap shards, per second from one network',
  ),
  streamsPerNetwork: amount(
    'LIMIT_STREAMS_PER_NETWORK',
    DEFAULT_STREAM_LIMITS.perNetwork,
    'Open [event streams](api.md#get-apievents) per network',
  ),
} as const;

type LimitValues = Record<keyof typeof LIMIT_SETTINGS, number>;

/** Groups the values of the settings by action. */
export function rateLimitsOf(values: LimitValues): RateLimits {
  const withAmounts = (limits: Required<ActionLimits>, perSession: number, perNetwork: number): ActionLimits => ({
    session: { ...limits.session, amount: perSession },
    network: { ...limits.network, amount: perNetwork },
  });
  return {
    upvote: withAmounts(upvote, values.upvotesPerSession, values.upvotesPerNetwork),
    comment: withAmounts(comment, values.commentsPerSession, values.commentsPerNetwork),
    like: withAmounts(like, values.likesPerSession, values.likesPerNetwork),
    submission: withAmounts(submission, values.submissionsPerSession, values.submissionsPerNetwork),
    maker,
    picture,
    search: { network: { ...search.network, amount: values.searchesPerNetwork } },
  };
}

/** The minimum of a process's limit per network for actions without a limit per session: searches and uploads. */
const MIN_AMOUNT_PER_NETWORK = 5;

/**
 * Returns the limits that each process enforces. A network's connections are spread over all processes, so each process
 * allows only a share of the network's limit. The share is at least the limit of one session, because a browser may use
 * a single connection and thus a single process.
 */
export function limitsPerProcess(limits: RateLimits, processes: number): RateLimits {
  const shared = Object.entries(limits).map(([action, { session, network }]): [string, ActionLimits] => [
    action,
    { ...(session && { session }), network: shareOf(network, processes, session?.amount ?? MIN_AMOUNT_PER_NETWORK) },
  ]);
  return Object.fromEntries(shared) as RateLimits;
}

/** Returns the limits on open streams of one process: its share of the limit per network, and its own limit. */
export function streamLimitsPerProcess(limits: StreamLimits, processes: number): StreamLimits {
  const { perNetwork } = limits;
  return { ...limits, perNetwork: perNetwork === undefined ? undefined : Math.ceil(perNetwork / processes) };
}

function shareOf(rate: Rate, processes: number, min: number): Rate {
  const share = Math.max(Math.ceil(rate.amount / processes), min);
  return { ...rate, amount: Math.min(rate.amount, share) };
}

/** Declares a setting. It is validated even if limits are off, so errors are found before limits are turned on. */
function amount<Name extends string>(name: Name, defaultAmount: number, about: string) {
  return { name, default: `${defaultAmount}`, read: readAmount, about } as const;
}
