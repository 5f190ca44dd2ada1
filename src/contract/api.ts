import type { Comment, CommentListQuery, CommentPage, HeldComments, Likes, NewComment } from './comments/schema.ts';
import type {
  Leaderboard,
  LeaderboardList,
  LeaderboardListQuery,
  LeaderboardQuery,
  Standings,
} from './leaderboards/schema.ts';
import type { ModerationLog, ModerationLogQuery } from './moderation/schema.ts';
import type { ProductDetail, ProductListQuery, ProductPage, RelatedProducts } from './products/schema.ts';
import type { Upvoted, UpvoteState } from './upvotes/schema.ts';

/** The reads of pages: over HTTP in the browser, from `core` while rendering on the server. */
export interface ReadApi {
  listProducts(query: ProductListQuery, signal?: AbortSignal): Promise<ProductPage>;
  /** `null`: there is no such product. */
  getProduct(id: string, signal?: AbortSignal): Promise<ProductDetail | null>;
  /** `null`: there is no such product. */
  getRelatedProducts(id: string, signal?: AbortSignal): Promise<RelatedProducts | null>;
  listComments(productId: string, query: CommentListQuery, signal?: AbortSignal): Promise<CommentPage>;
  listLeaderboards(query: LeaderboardListQuery, signal?: AbortSignal): Promise<LeaderboardList>;
  /** `null`: no board can exist for this period. */
  getLeaderboard(period: string, query: LeaderboardQuery, signal?: AbortSignal): Promise<Leaderboard | null>;
  /** `null`: there is no such product, or its launch is not on the boards yet. */
  getStandings(productId: string, signal?: AbortSignal): Promise<Standings | null>;
  /** On the server alone; missing where the site has no public log. */
  getModerationLog?(query: ModerationLogQuery): Promise<ModerationLog>;
}

/** The whole port of the web. The session id is sent with each personal call. */
export interface Api extends ReadApi {
  /** Which of the products (at most 100) this visitor has upvoted. */
  getUpvoted(productIds: readonly string[], signal?: AbortSignal): Promise<Upvoted>;
  /** This visitor's own held comments on a product. */
  listHeldComments(productId: string, signal?: AbortSignal): Promise<HeldComments>;
  setUpvote(productId: string, upvoted: boolean): Promise<UpvoteState>;
  /**
   * `idempotencyKey` identifies the draft: sent twice, it makes one comment. With the maker's key, the comment is the
   * maker's.
   */
  addComment(comment: NewComment, idempotencyKey: string, makerKey?: string): Promise<Comment>;
  likeComment(commentId: string): Promise<Likes>;
}
