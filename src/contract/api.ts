import type { Comment, CommentListQuery, CommentPage, HeldComments, Likes, NewComment } from './comments/schema.ts';
import type { ProductDetail, ProductListQuery, ProductPage } from './products/schema.ts';
import type { Upvoted, UpvoteState } from './upvotes/schema.ts';

/** What pages need to be shown: answered over HTTP in the browser and by `core` while rendering on the server. */
export interface ReadApi {
  listProducts(query: ProductListQuery, signal?: AbortSignal): Promise<ProductPage>;
  /** `null`: there is no such product. */
  getProduct(id: string, signal?: AbortSignal): Promise<ProductDetail | null>;
  listComments(productId: string, query: CommentListQuery, signal?: AbortSignal): Promise<CommentPage>;
}

/** The whole port that the web calls. The session id travels with each call that is personal. */
export interface Api extends ReadApi {
  /** Which of the products (at most 100) this visitor has upvoted. */
  getUpvoted(productIds: readonly string[], signal?: AbortSignal): Promise<Upvoted>;
  /** This visitor's own comments on a product that are held back: nobody else sees them. */
  listHeldComments(productId: string, signal?: AbortSignal): Promise<HeldComments>;
  setUpvote(productId: string, upvoted: boolean): Promise<UpvoteState>;
  /** `idempotencyKey` names the draft: sent twice, it makes one comment. */
  addComment(comment: NewComment, idempotencyKey: string): Promise<Comment>;
  likeComment(commentId: string): Promise<Likes>;
}
