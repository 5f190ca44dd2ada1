import type { Api } from '../../../contract/api.ts';
import type { Standing } from '../../../contract/leaderboards/schema.ts';
import { LIMITS } from '../../../contract/limits.ts';
import type { Product } from '../../../contract/products/schema.ts';
import { ApiError } from '../../api/http-api.ts';

/**
 * The maximum number of upvoted products to check, and likewise of products on which the visitor commented. The latest
 * are checked first.
 */
const MAX_CHECKED = 4;
const MAX_LAUNCHES = 5;
/** The number of latest comments to read per product. Those since the last visit are counted. */
const COMMENTS_PER_PRODUCT = LIMITS.pageSize.max;

/** The ids that this browser remembers, latest first. */
export interface VisitMemory {
  upvoted: readonly string[];
  commentedOn: readonly string[];
  ownComments: readonly string[];
}

type NamedProduct = Pick<Product, 'id' | 'name' | 'image'>;

export interface VisitNews {
  launched: Product[];
  /** Upvoted products whose voting window ended. */
  ended: { product: NamedProduct; standing: Standing }[];
  /**
   * Products on which the visitor commented and that have new comments by others. `hasMore`: there may be more new
   * comments than `comments`.
   */
  commented: { product: NamedProduct; comments: number; hasMore: boolean }[];
}

type VisitNewsApi = Pick<Api, 'listProducts' | 'getProduct' | 'getStandings' | 'listComments'>;

/**
 * Reads what happened from `since` to `now` (milliseconds since 1970 on the browser's clock), with a limited number of
 * sequential requests. Products that are not found are left out. @throws ApiError if the server cannot be reached, fails
 * or limits the rate.
 */
export async function readVisitNews(
  api: VisitNewsApi,
  { upvoted, commentedOn, ownComments }: VisitMemory,
  { since, now, signal }: { since: number; now: number; signal?: AbortSignal },
): Promise<VisitNews> {
  const isBetween = (time: string) => Date.parse(time) > since && Date.parse(time) <= now;
  const { items } = await api.listProducts({ limit: LIMITS.listedProducts }, signal);
  const launched = items.filter(({ createdAt }) => isBetween(createdAt)).slice(0, MAX_LAUNCHES);

  const ended: VisitNews['ended'] = [];
  for (const id of upvoted.slice(0, MAX_CHECKED)) {
    const standing = (await nullOnClientError(api.getStandings(id, signal)))?.day;
    if (standing === undefined || !isBetween(standing.windowEndsAt)) continue;
    const product = await nameOf(id);
    if (product) ended.push({ product, standing });
  }

  const commented: VisitNews['commented'] = [];
  for (const id of commentedOn.slice(0, MAX_CHECKED)) {
    const page = await nullOnClientError(api.listComments(id, { sort: 'newest', limit: COMMENTS_PER_PRODUCT }, signal));
    const recent = page?.items.filter(({ createdAt }) => isBetween(createdAt)) ?? [];
    const others = recent.filter((comment) => !ownComments.includes(comment.id));
    if (others.length === 0) continue;
    const product = await nameOf(id);
    const hasMore = recent.length === COMMENTS_PER_PRODUCT && page?.nextCursor !== null;
    if (product) commented.push({ product, comments: others.length, hasMore });
  }
  return { launched, ended, commented };

  async function nameOf(id: string): Promise<NamedProduct | undefined> {
    return items.find((item) => item.id === id) ?? (await nullOnClientError(api.getProduct(id, signal)))?.product;
  }
}

/**
 * Resolves to null on a client error (4xx), which concerns only one product. Rethrows other errors and a rate limit
 * (429), because further requests would probably fail as well.
 */
async function nullOnClientError<Result>(request: Promise<Result>): Promise<Result | null> {
  try {
    return await request;
  } catch (error) {
    if (error instanceof ApiError && error.status >= 400 && error.status < 500 && error.status !== 429) return null;
    throw error;
  }
}
