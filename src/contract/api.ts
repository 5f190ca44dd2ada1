import type {
  AddedComment,
  CommentListQuery,
  CommentPage,
  HeldComments,
  Likes,
  NewComment,
} from './comments/schema.ts';
import type { Leaderboard, Standings } from './leaderboards/schema.ts';
import type { ModerationLog } from './moderation/schema.ts';
import type { PageQuery } from './page-query.ts';
import type { ProductDetail, ProductListQuery, ProductPage, RelatedProducts } from './products/schema.ts';
import type { Upvoted, UpvoteState } from './upvotes/schema.ts';

/**
 * The header with the anonymous visitor's session id. The browser creates and stores the id, and sends it with writes
 * and with reads of data about the visitor. The id is an untrusted, unguessable token, and must never be logged,
 * returned or shown to anyone else.
 */
export const SESSION_HEADER = 'X-User-Session';

/** The key under which the browser stores the session id. */
export const SESSION_STORAGE_KEY = 'user_session';

/** A session id: `session-…`, `fallback-session-…` or `server-session-…`, 9 to 100 characters long. */
export const SESSION_PATTERN = '^(?=.{9,100}$)(?:session|fallback-session|server-session)-[A-Za-z0-9-]+$';

/**
 * The read operations of pages: HTTP requests in the browser, calls to `core` when rendering on the server. They reject
 * with `ApiError` in the browser, and with `CoreError` on the server.
 */
export interface ReadApi {
  listProducts(query: ProductListQuery, signal?: AbortSignal): Promise<ProductPage>;
  /** Resolves to `null` if the product does not exist. */
  getProduct(id: string, signal?: AbortSignal): Promise<ProductDetail | null>;
  /** Resolves to `null` if the product does not exist. */
  getRelatedProducts(id: string, signal?: AbortSignal): Promise<RelatedProducts | null>;
  listComments(productId: string, query: CommentListQuery, signal?: AbortSignal): Promise<CommentPage>;
  /** Resolves to `null` for a period without a leaderboard, such as one in the future. */
  getLeaderboard(period: string, query: PageQuery, signal?: AbortSignal): Promise<Leaderboard | null>;
  /** Resolves to `null` if the product does not exist, or if its launch is not on the leaderboards yet. */
  getStandings(productId: string, signal?: AbortSignal): Promise<Standings | null>;
  /** Exists only on the server, and only if the site's moderation log is public. */
  getModerationLog?(query: PageQuery): Promise<ModerationLog>;
}

/**
 * The API operations of the web app, except those for submissions. Writes, and reads of data about this visitor, send
 * the session id.
 */
export interface Api extends ReadApi {
  /** Returns which of these products this visitor has upvoted. Accepts at most 100 ids. */
  getUpvoted(productIds: readonly string[]): Promise<Upvoted>;
  /** Lists this visitor's own held comments on a product. */
  listHeldComments(productId: string, signal?: AbortSignal): Promise<HeldComments>;
  setUpvote(productId: string, upvoted: boolean): Promise<UpvoteState>;
  /**
   * Adds a comment. Repeated calls with the same `idempotencyKey` add it only once; `isNew` is true for the call that
   * added it. With `makerKey`, the comment is marked as written by the product's maker.
   */
  addComment(
    comment: NewComment,
    idempotencyKey: string,
    makerKey?: string,
  ): Promise<AddedComment & { isNew?: boolean }>;
  likeComment(commentId: string): Promise<Likes>;
}
