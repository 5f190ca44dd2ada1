import type { CommentListQuery, CommentPage, Likes, NewComment } from '../contract/comments/schema.ts';
import type { ProductDetail, ProductListQuery, ProductPage } from '../contract/products/schema.ts';
import type { Upvoted, UpvoteState } from '../contract/upvotes/schema.ts';
import { type AddedComment, addComment, type Sender } from './comments/add-comment.ts';
import { forgetOldKeys } from './comments/idempotency-keys.ts';
import { likeComment } from './comments/like-comment.ts';
import { listComments } from './comments/list-comments.ts';
import type { Database } from './database/database.ts';
import { getProduct } from './products/get-product.ts';
import { listProducts } from './products/list-products.ts';
import { type Sources, systemSources } from './sources.ts';
import { getUpvoted } from './upvotes/get-upvoted.ts';
import { setUpvote } from './upvotes/set-upvote.ts';

/** The product: everything that a visitor's request can ask for. Errors are `CoreError`s, as each function says. */
export interface Core {
  listProducts(query: ProductListQuery): Promise<ProductPage>;
  getProduct(id: string): Promise<ProductDetail | null>;
  getUpvoted(productIds: readonly string[], session: string): Promise<Upvoted>;
  setUpvote(change: { productId: string; session: string; upvoted: boolean }): Promise<UpvoteState>;
  listComments(productId: string, query: CommentListQuery): Promise<CommentPage>;
  addComment(comment: NewComment, sender: Sender): Promise<AddedComment>;
  likeComment(commentId: string): Promise<Likes>;
  /** Housekeeping, to be called now and then by a process that stays up. */
  forgetOldKeys(): Promise<void>;
  /** Whether the database answers. */
  isReady(): Promise<boolean>;
}

export function createCore(database: Database, sources: Sources = systemSources): Core {
  return {
    listProducts: (query) => listProducts(database, query),
    getProduct: (id) => getProduct(database, id),
    getUpvoted: (productIds, session) => getUpvoted(database, productIds, session),
    setUpvote: (change) => setUpvote(database, sources, change),
    listComments: (productId, query) => listComments(database, productId, query),
    addComment: (comment, sender) => addComment(database, sources, comment, sender),
    likeComment: (commentId) => likeComment(database, commentId),
    forgetOldKeys: () => forgetOldKeys(database, sources.now()),
    isReady: () =>
      database.query('SELECT 1').then(
        () => true,
        () => false,
      ),
  };
}
