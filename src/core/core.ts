import type { ReadApi } from '../contract/api.ts';
import type { HeldComments, Likes, NewComment } from '../contract/comments/schema.ts';
import type { PeriodKind } from '../contract/leaderboards/period.ts';
import type { LeaderboardList, LeaderboardListQuery, Standings } from '../contract/leaderboards/schema.ts';
import { VOTES_PER_NETWORK } from '../contract/limits.ts';
import type { PageQuery } from '../contract/page-query.ts';
import type { Upvoted, UpvoteState } from '../contract/upvotes/schema.ts';
import { listModeration } from './audit/moderation-log.ts';
import type { Change } from './changes/change-feed.ts';
import { addCommentsWithEvents, type WrittenComment } from './comments/add-comments.ts';
import { type Like, likeComments } from './comments/like-comments.ts';
import { listComments, listHeldComments } from './comments/list-comments.ts';
import { type CommentAuthor, type PreparedComment, prepareComment, type Sender } from './comments/prepare-comment.ts';
import { CoreError, idempotencyKeyReused, productNotFound } from './core-error.ts';
import type { Database } from './database/database.ts';
import { primaryOnly, type ReadSources } from './database/replicas.ts';
import { type BatchResult, type GroupCommitObserver, groupCommit, type Outcome } from './group-commit.ts';
import { periodsAt } from './leaderboards/calendar.ts';
import { getLeaderboard, type LeaderboardRules } from './leaderboards/get-leaderboard.ts';
import { getStandings, isPlaceable } from './leaderboards/get-standings.ts';
import {
  type BoardAddress,
  listLeaderboards,
  readBoardAddresses,
  readFinalDays,
} from './leaderboards/list-leaderboards.ts';
import { createTallyLimiter, readTally, type Tally } from './leaderboards/read-tally.ts';
import { placeLaunch } from './leaderboards/update-boards.ts';
import type { VoteNetwork, VoteNetworks } from './leaderboards/vote-networks.ts';
import { getProduct } from './products/get-product.ts';
import { listProducts } from './products/list-products.ts';
import {
  type ProductAddress,
  type ProductRange,
  readProductAddresses,
  splitProductRanges,
} from './products/product-addresses.ts';
import { getRelatedProducts, type NewestProductsCache } from './products/related-products.ts';
import { isProductRemoved } from './products/remove-products.ts';
import { type Runtime, systemRuntime } from './runtime.ts';
import { addWithSpamCheck, type Repetition } from './spam.ts';
import { getUpvoted } from './upvotes/get-upvoted.ts';
import { createNetworkCounts } from './upvotes/network-counts.ts';
import { setUpvotes, type UpvoteChange } from './upvotes/set-upvotes.ts';
import type { RecordEvents } from './webhooks/outbox.ts';

/** The operations that visitors' requests use. Pages read through `ReadApi`. Operations throw `CoreError`. */
export interface Core extends ReadApi {
  /** Returns whether an operator removed the product with this id. */
  isProductRemoved(id: string): Promise<boolean>;
  /** Reads the products of a range in batches; see `readProductAddresses`. */
  readProductAddresses(range: ProductRange, limit: number): AsyncIterable<ProductAddress[]>;
  /** Divides the launched products into ranges; see `splitProductRanges`. */
  splitProductRanges(size: number): Promise<(ProductRange & { newestAt: string })[]>;
  /** Reads the newest leaderboards of all kinds that have a launch. */
  readBoardAddresses(limit: number): Promise<BoardAddress[]>;
  /** Reads the newest days whose results are final. */
  readFinalDays(limit: number): Promise<string[]>;
  listLeaderboards(query: LeaderboardListQuery): Promise<LeaderboardList>;
  /** Returns the names of the current periods in the site's time zone. */
  currentPeriods(): Record<PeriodKind, string>;
  /** Passes the tally of a day to `use`; see `readTally` and `ReadLimiter`. Resolves to false if there is no tally. */
  readTally(
    day: string,
    reader: string | undefined,
    use: (tally: Tally, signal: AbortSignal) => Promise<void>,
  ): Promise<boolean>;
  getUpvoted(productIds: readonly string[], session: string): Promise<Upvoted>;
  /**
   * Sets or withdraws an upvote. `networkPrefix` identifies the voter's network, whose votes are capped, and is unset
   * if the network is unknown.
   */
  setUpvote(change: Omit<UpvoteChange, 'network'>, networkPrefix?: Uint8Array): Promise<UpvoteState>;
  listHeldComments(productId: string, session: string): Promise<HeldComments>;
  /** Adds a comment. `author` is unset for visitors, whose comments have the author `You`. */
  addComment(
    comment: NewComment,
    sender: Sender,
    options?: { repetition?: Repetition | undefined; author?: CommentAuthor | undefined },
  ): Promise<WrittenComment>;
  likeComment(like: Like): Promise<Likes>;
  /** Returns whether the database responds and accepts writes. */
  isReady(): Promise<boolean>;
  /** Returns the number of queued writes of each kind. */
  queuedWrites(): Record<WriteKind, number>;
}

/** The kinds of writes that are batched. Each transaction contains writes of one kind. */
export type WriteKind = 'upvotes' | 'comments' | 'likes';

interface CoreOptions {
  runtime?: Runtime;
  observeWrites?: ((kind: WriteKind) => GroupCommitObserver) | undefined;
  /** Chooses the database for each read. By default, all reads use the primary. */
  reads?: ReadSources | undefined;
  /**
   * Called with the changes of a transaction after it commits, before the callers of its operations get their results.
   */
  onWrite?: ((change: Change) => void) | undefined;
  /** Called with networks whose votes must be checked against the cap again; see `setUpvotes`. */
  onUnchecked?: ((networks: readonly VoteNetwork[]) => void) | undefined;
  launches?: LaunchOptions;
  /** The newest products, from which related products are chosen. If unset, they are read for each choice. */
  newestProducts?: NewestProductsCache | undefined;
  /** If unset, changes record no webhooks. */
  recordEvents?: RecordEvents | undefined;
  /** Whether visitors may read the moderation log. */
  hasModerationLog?: boolean | undefined;
}

/** The operator's settings for launches, and the source of voters' networks. */
export interface LaunchOptions {
  /** The IANA name of the time zone in which days begin. */
  timeZone: string;
  reviewHours: number;
  votesPerNetwork: number;
  /** Looks up launches and the networks of voters. If unset, votes are not capped per network. */
  networks?: VoteNetworks | undefined;
}

export const DEFAULT_LAUNCHES: LaunchOptions = {
  timeZone: 'UTC',
  reviewHours: 24,
  votesPerNetwork: VOTES_PER_NETWORK,
};

/** Lower than the defaults of `groupCommit`, because a comment can be a hundred times as large as an upvote. */
const COMMENT_BATCH_LIMITS = { maxBatch: 200, maxQueued: 2_000 };

export function createCore(database: Database, options: CoreOptions = {}): Core {
  const { runtime = systemRuntime, observeWrites, onWrite, onUnchecked, reads = primaryOnly(database) } = options;
  const { launches = DEFAULT_LAUNCHES, newestProducts: newest, recordEvents } = options;
  const rules = (): LeaderboardRules & LaunchOptions => ({ ...launches, now: runtime.now() });

  function publish<Result>({ outcomes, productIds, commentIds }: BatchResult<Result>): Outcome<Result>[] {
    if (productIds.length > 0) onWrite?.({ productIds, commentIds, catalogue: false });
    return outcomes;
  }

  /** The launch that is being placed on its boards because a visitor views it. */
  let placing: { productId: string; standings: Promise<Standings | null> } | undefined;

  async function placeForView(productId: string): Promise<Standings | null> {
    const isPlaced = await placeLaunch(database, productId, rules(), recordEvents);
    if (isPlaced) onWrite?.({ productIds: [productId], catalogue: true });
    return getStandings(database, productId, rules());
  }

  const tallyLimiter = createTallyLimiter(database.connections().max);
  const networkCounts = createNetworkCounts(runtime.monotonicMs);
  const upvoteObserver = observeWrites?.('upvotes');
  const upvotes = groupCommit<UpvoteChange, UpvoteState>({
    async commit(changes) {
      const written = await setUpvotes(database, runtime, changes, { ...launches, networkCounts });
      onUnchecked?.(written.unchecked);
      return publish(written);
    },
    observer: upvoteObserver,
  });

  /** Counts an upvote that is rejected before it is queued, because the database is unavailable. */
  function countRejected(error: unknown): never {
    if (error instanceof CoreError && error.code === 'unavailable') upvoteObserver?.rejected();
    throw error;
  }

  const comments = groupCommit<PreparedComment, WrittenComment>({
    commit: async (batch) => publish(await addCommentsWithEvents(database, runtime, batch, recordEvents)),
    observer: observeWrites?.('comments'),
    ...COMMENT_BATCH_LIMITS,
  });
  const likes = groupCommit<Like, Likes>({
    commit: async (items) => publish(await likeComments(database, items, runtime.now())),
    observer: observeWrites?.('likes'),
  });
  return {
    listProducts: (query) => listProducts(database, query, runtime.now(), reads.of({})),
    getProduct: (id) => getProduct(reads.of({ productIds: [id] }), id, runtime.now()),
    getRelatedProducts: (id) =>
      getRelatedProducts(reads.of({ productIds: [id] }), id, runtime.now(), { newest, primary: database }),
    isProductRemoved: (id) => isProductRemoved(reads.of({ productIds: [id] }), id),
    readProductAddresses: (range, limit) => readProductAddresses(reads.of({}), range, limit, runtime.now()),
    splitProductRanges: (size) => splitProductRanges(reads.of({}), size, runtime.now()),
    readBoardAddresses: (limit) => readBoardAddresses(reads.of({}), limit),
    readFinalDays: (limit) => readFinalDays(reads.of({}), limit),
    getUpvoted: (productIds, session) => getUpvoted(reads.of({ session }), productIds, session),
    currentPeriods: () => periodsAt(runtime.now(), launches.timeZone),
    ...(options.hasModerationLog && {
      getModerationLog: (query: PageQuery) => listModeration(reads.of({}), query, runtime.now()),
    }),
    getLeaderboard: (period, query) => getLeaderboard(reads.of({}), period, query, rules()),
    listLeaderboards: (query) => listLeaderboards(reads.of({}), query, rules()),
    readTally: (day, reader, use) =>
      tallyLimiter.run(reader, (signal) =>
        readTally(database, day, { rules: rules(), runtime }, (tally) => use(tally, signal)),
      ),
    async getStandings(productId) {
      // A rank depends on the votes for other launches, so this read must show the latest writes to every product.
      const standings = await getStandings(reads.of({}), productId, rules());
      if (standings !== null) return standings;
      if (!(await isPlaceable(database, productId, rules()))) {
        // The launch may have been placed since the first read.
        return getStandings(database, productId, rules());
      }
      // The page must show the standing of a launch that the board updater has not placed yet. Page views place one
      // launch at a time, so they use only one connection even after a large import. The updater places the others, and
      // invalidates the cached responses that lack their standings.
      placing ??= {
        productId,
        standings: placeForView(productId).finally(() => {
          placing = undefined;
        }),
      };
      return placing.productId === productId ? placing.standings : null;
    },
    async setUpvote(change, networkPrefix) {
      const looking = launches.networks?.lookUp(change.productId, change.upvoted ? networkPrefix : undefined);
      const status = looking instanceof Promise ? await looking.catch(countRejected) : looking;
      const { hasLaunched, network } = status ?? { hasLaunched: true };
      if (!hasLaunched) throw productNotFound();
      const state = await upvotes.submit(network ? { ...change, network } : change);
      reads.noteSession(change.session);
      return state;
    },
    listComments: (productId, query) =>
      listComments(reads.of({ productIds: [productId] }), productId, query, runtime.now()),
    listHeldComments: (productId, session) =>
      listHeldComments(reads.of({ productIds: [productId], session }), productId, session),
    async addComment(comment, sender, { repetition, author } = {}) {
      const added = await addWithSpamCheck(comment, repetition, async (held) => {
        const prepared = prepareComment(runtime, comment, sender, { held, author });
        const written = await comments.submit(prepared);
        // If the key was used for another comment, returning that comment would silently discard this one.
        if (
          written.comment.productId !== prepared.comment.productId ||
          written.comment.content !== prepared.comment.content
        ) {
          throw idempotencyKeyReused('comment');
        }
        return written;
      });
      reads.noteSession(sender.session);
      return added;
    },
    likeComment: (like) => likes.submit(like),
    isReady: () =>
      database.query<{ on: boolean }>("SELECT current_setting('transaction_read_only') = 'on' AS on").then(
        ([readOnly]) => readOnly?.on === false,
        () => false,
      ),
    queuedWrites: () => ({ upvotes: upvotes.queued(), comments: comments.queued(), likes: likes.queued() }),
  };
}
