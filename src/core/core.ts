import type { CommentListQuery, CommentPage, HeldComments, Likes, NewComment } from '../contract/comments/schema.ts';
import type { ProductDetail, ProductListQuery, ProductPage } from '../contract/products/schema.ts';
import type { Upvoted, UpvoteState } from '../contract/upvotes/schema.ts';
import type { Change } from './changes/change.ts';
import { addComments, type WrittenComment } from './comments/add-comments.ts';
import { type Draft, draftComment, type Judgement, type Sender } from './comments/draft.ts';
import { type Like, type Liked, likeComments } from './comments/like-comments.ts';
import { listComments } from './comments/list-comments.ts';
import { listHeldComments } from './comments/list-held-comments.ts';
import { CoreError } from './core-error.ts';
import type { Database } from './database/database.ts';
import { type ReadSources, readsFrom } from './database/replicas.ts';
import { type GroupCommitObserver, groupCommit, type Outcome } from './group-commit.ts';
import { getProduct } from './products/get-product.ts';
import { listProducts } from './products/list-products.ts';
import {
  cutProductStretches,
  type ProductAddress,
  type ProductStretch,
  readProductAddresses,
} from './products/product-addresses.ts';
import { isProductRemoved } from './products/removed-products.ts';
import { type Sources, systemSources } from './sources.ts';
import { getUpvoted } from './upvotes/get-upvoted.ts';
import { setUpvotes, type UpvoteChange } from './upvotes/set-upvotes.ts';

/** The product: everything that a visitor's request can ask for. Errors are `CoreError`s, as each function says. */
export interface Core {
  listProducts(query: ProductListQuery): Promise<ProductPage>;
  getProduct(id: string): Promise<ProductDetail | null>;
  /** Whether the operator removed a product of this id. */
  isProductRemoved(id: string): Promise<boolean>;
  /** The products of a stretch, in batches; see `readProductAddresses`. */
  readProductAddresses(stretch: ProductStretch, limit: number): AsyncIterable<ProductAddress[]>;
  /** All products, cut into stretches; see `cutProductStretches`. */
  cutProductStretches(size: number): Promise<(ProductStretch & { newestAt: string })[]>;
  getUpvoted(productIds: readonly string[], session: string): Promise<Upvoted>;
  setUpvote(change: UpvoteChange): Promise<UpvoteState>;
  listComments(productId: string, query: CommentListQuery): Promise<CommentPage>;
  listHeldComments(productId: string, session: string): Promise<HeldComments>;
  addComment(comment: NewComment, sender: Sender, judgement?: Judgement): Promise<WrittenComment>;
  likeComment(like: Like): Promise<Likes>;
  /** Whether the database answers. */
  isReady(): Promise<boolean>;
  /** How many writes of each kind wait for a transaction. */
  queuedWrites(): Record<WriteKind, number>;
}

/** What is written in groups, each kind in transactions of its own. */
export type WriteKind = 'upvotes' | 'comments' | 'likes';

export interface CoreOptions {
  sources?: Sources;
  /** Who is told what happens to the writes of a kind. */
  observeWrites?: ((kind: WriteKind) => GroupCommitObserver) | undefined;
  /** Where reads go; unset: to the database, like writes. */
  reads?: ReadSources | undefined;
  /** Told what a transaction changed, after its commit and before anybody is answered. */
  onWrite?: ((change: Change) => void) | undefined;
}

/** What one write belongs to. */
interface Written {
  productId: string | undefined;
  commentId?: string | undefined;
}

function definedOnce(ids: readonly (string | undefined)[]): string[] {
  return [...new Set(ids.filter((id) => id !== undefined))];
}

/** A comment may be a hundred times as large as an upvote; so many fit into memory and into one statement. */
const COMMENT_BOUNDS = { maxBatch: 200, maxQueued: 2_000 };

export function createCore(
  database: Database,
  { sources = systemSources, observeWrites, onWrite, reads = readsFrom(database) }: CoreOptions = {},
): Core {
  /** Passes outcomes on, and says which products and comments those that succeeded belong to. */
  async function telling<Result>(
    committing: Promise<Outcome<Result>[]>,
    writtenBy: (result: Result, index: number) => Written,
  ): Promise<Outcome<Result>[]> {
    const outcomes = await committing;
    const written = outcomes.flatMap((outcome, index) =>
      outcome instanceof CoreError ? [] : writtenBy(outcome, index),
    );
    const productIds = definedOnce(written.map(({ productId }) => productId));
    if (productIds.length > 0) {
      const commentIds = definedOnce(written.map(({ commentId }) => commentId));
      onWrite?.({ productIds, commentIds, catalogue: false });
    }
    return outcomes;
  }

  const upvotes = groupCommit<UpvoteChange, UpvoteState>({
    commit: (changes) =>
      telling(setUpvotes(database, sources, changes), (_state, index) => ({ productId: changes[index]?.productId })),
    observer: observeWrites?.('upvotes'),
  });
  const comments = groupCommit<Draft, WrittenComment>({
    commit: (drafts) =>
      telling(addComments(database, sources, drafts), ({ comment }) => ({
        productId: comment.productId,
        commentId: comment.id,
      })),
    observer: observeWrites?.('comments'),
    ...COMMENT_BOUNDS,
  });
  const likes = groupCommit<Like, Liked>({
    commit: (items) =>
      telling(likeComments(database, items), ({ productId }, index) => ({
        productId,
        commentId: items[index]?.commentId.toLowerCase(),
      })),
    observer: observeWrites?.('likes'),
  });
  return {
    listProducts: (query) => listProducts(database, query, reads.of({})),
    getProduct: (id) => getProduct(reads.of({ productIds: [id] }), id),
    isProductRemoved: (id) => isProductRemoved(reads.of({ productIds: [id] }), id),
    readProductAddresses: (stretch, limit) => readProductAddresses(reads.of({}), stretch, limit),
    cutProductStretches: (size) => cutProductStretches(reads.of({}), size),
    getUpvoted: (productIds, session) => getUpvoted(reads.of({ session }), productIds, session),
    async setUpvote(change) {
      const state = await upvotes.submit(change);
      reads.noteSession(change.session);
      return state;
    },
    listComments: (productId, query) => listComments(reads.of({ productIds: [productId] }), productId, query),
    listHeldComments: (productId, session) =>
      listHeldComments(reads.of({ productIds: [productId], session }), productId, session),
    async addComment(comment, sender, judgement) {
      const added = await comments.submit(draftComment(sources, comment, sender, judgement));
      reads.noteSession(sender.session);
      return added;
    },
    likeComment: async (like) => ({ likes: (await likes.submit(like)).likes }),
    isReady: () =>
      database.query('SELECT 1').then(
        () => true,
        () => false,
      ),
    queuedWrites: () => ({ upvotes: upvotes.queued(), comments: comments.queued(), likes: likes.queued() }),
  };
}
