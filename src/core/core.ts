import type { CommentListQuery, CommentPage, Likes, NewComment } from '../contract/comments/schema.ts';
import type { ProductDetail, ProductListQuery, ProductPage } from '../contract/products/schema.ts';
import type { Upvoted, UpvoteState } from '../contract/upvotes/schema.ts';
import { type AddedComment, addComments } from './comments/add-comments.ts';
import { type Draft, draftComment, type Sender } from './comments/draft.ts';
import { forgetOldKeys } from './comments/idempotency-keys.ts';
import { likeComments } from './comments/like-comments.ts';
import { listComments } from './comments/list-comments.ts';
import type { Database } from './database/database.ts';
import { type GroupCommitObserver, groupCommit } from './group-commit.ts';
import { getProduct } from './products/get-product.ts';
import { listProducts } from './products/list-products.ts';
import { type Sources, systemSources } from './sources.ts';
import { getUpvoted } from './upvotes/get-upvoted.ts';
import { setUpvotes, type UpvoteChange } from './upvotes/set-upvotes.ts';

/** The product: everything that a visitor's request can ask for. Errors are `CoreError`s, as each function says. */
export interface Core {
  listProducts(query: ProductListQuery): Promise<ProductPage>;
  getProduct(id: string): Promise<ProductDetail | null>;
  getUpvoted(productIds: readonly string[], session: string): Promise<Upvoted>;
  setUpvote(change: UpvoteChange): Promise<UpvoteState>;
  listComments(productId: string, query: CommentListQuery): Promise<CommentPage>;
  addComment(comment: NewComment, sender: Sender): Promise<AddedComment>;
  likeComment(commentId: string): Promise<Likes>;
  /** Housekeeping, to be called now and then by a process that stays up. */
  forgetOldKeys(): Promise<void>;
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
}

/** A comment may be a hundred times as large as an upvote; so many fit into memory and into one statement. */
const COMMENT_BOUNDS = { maxBatch: 200, maxQueued: 2_000 };

export function createCore(database: Database, { sources = systemSources, observeWrites }: CoreOptions = {}): Core {
  const upvotes = groupCommit<UpvoteChange, UpvoteState>({
    commit: (changes) => setUpvotes(database, sources, changes),
    observer: observeWrites?.('upvotes'),
  });
  const comments = groupCommit<Draft, AddedComment>({
    commit: (drafts) => addComments(database, sources, drafts),
    observer: observeWrites?.('comments'),
    ...COMMENT_BOUNDS,
  });
  const likes = groupCommit<string, Likes>({
    commit: (ids) => likeComments(database, ids),
    observer: observeWrites?.('likes'),
  });
  return {
    listProducts: (query) => listProducts(database, query),
    getProduct: (id) => getProduct(database, id),
    getUpvoted: (productIds, session) => getUpvoted(database, productIds, session),
    setUpvote: (change) => upvotes.submit(change),
    listComments: (productId, query) => listComments(database, productId, query),
    addComment: async (comment, sender) => comments.submit(draftComment(sources, comment, sender)),
    likeComment: (commentId) => likes.submit(commentId),
    forgetOldKeys: () => forgetOldKeys(database, sources.now()),
    isReady: () =>
      database.query('SELECT 1').then(
        () => true,
        () => false,
      ),
    queuedWrites: () => ({ upvotes: upvotes.queued(), comments: comments.queued(), likes: likes.queued() }),
  };
}
