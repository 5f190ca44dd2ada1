import type { InfiniteData, Query, QueryClient } from '@tanstack/react-query';
import type { ReadApi } from '../../../contract/api.ts';
import type { Comment } from '../../../contract/comments/schema.ts';
import type { Leaderboard, Standings } from '../../../contract/leaderboards/schema.ts';
import { LIMITS } from '../../../contract/limits.ts';
import type { Product } from '../../../contract/products/schema.ts';
import type { AppApi } from '../../api/api-context.tsx';
import { productKeys } from '../../cache/cached-data.ts';
import { HOLD_MS, type UpdateApplier } from './apply-updates.ts';
import type { LaunchWatch } from './launch-watch.ts';
import { type VisibleList, visibleComments, visibleList, visibleProductId } from './visible-queries.ts';

const MAX_ITEMS = LIMITS.pageSize.max;

const MAX_SINGLE_READS = 5;

export interface Refetcher {
  api: ReadApi & Pick<AppApi, 'msSinceLastWrite'>;
  client: QueryClient;
  applier: UpdateApplier;
  launches: LaunchWatch;
}

/**
 * Refetches the counts and likes of the list, the product and the comments on screen, without moving or adding items.
 * Also looks for new launches.
 * @throws ApiError if a request fails.
 */
export async function refetchVisible(refetcher: Refetcher): Promise<void> {
  const { api, client, applier, launches } = refetcher;
  const { result: counts, startedAt } = await readBetweenWrites(api, async () => {
    const list = visibleList(client);
    const productId = visibleProductId(client);
    const [listed, detail] = await Promise.all([
      list ? fetchListed(api, list, launches) : [],
      productId === undefined ? null : api.getProduct(productId),
    ]);
    return [...listed, ...(detail ? [detail.product] : [])];
  });
  applier.apply({ counts }, startedAt);
  const productId = visibleProductId(client);
  if (productId !== undefined) await refetchComments(refetcher, productId);
}

/**
 * Waits until `HOLD_MS` have passed since the visitor's last write, then reads. Reads again if a write began in the
 * meantime, because the response might lack that write. Without a stream, nothing would correct the counts for a
 * minute.
 */
async function readBetweenWrites<Result>(
  { msSinceLastWrite }: Pick<AppApi, 'msSinceLastWrite'>,
  read: () => Promise<Result>,
): Promise<{ result: Result; startedAt: number }> {
  for (;;) {
    for (let ms = msSinceLastWrite(); ms < HOLD_MS; ms = msSinceLastWrite()) {
      await new Promise((resolve) => setTimeout(resolve, HOLD_MS - ms));
    }
    const startedAt = performance.now();
    const result = await read();
    if (msSinceLastWrite() > performance.now() - startedAt) return { result, startedAt };
  }
}

/**
 * Refetches the ranks on screen. Unlike lists, leaderboards on screen are reordered as votes arrive. Without
 * `includeFinal`, skips final boards, which votes cannot change. Always refetches standings, because they also contain
 * the number on the upvote button.
 * @throws ApiError if a request fails.
 */
export async function refetchBoards(client: QueryClient, { includeFinal = true } = {}): Promise<void> {
  const ranks = [productKeys.boards, productKeys.standings];
  await Promise.all(
    ranks.map(async (queryKey) => {
      const filters = {
        queryKey,
        type: 'active',
        predicate: (query: Query) => includeFinal || queryKey === productKeys.standings || !isFinal(query),
      } as const;
      // Waits for a running request first, because a refetch would cancel the page that the visitor is loading.
      await client.refetchQueries({ ...filters, fetchStatus: 'fetching' }, { cancelRefetch: false });
      await client.refetchQueries(filters, { throwOnError: true });
    }),
  );
}

/** Returns whether the result of a board, or of the launch that a standing describes, is final. */
function isFinal({ queryKey: [, kind], state: { data } }: Query): boolean {
  const result =
    kind === productKeys.standings[1]
      ? (data as Standings | null | undefined)?.day
      : (data as InfiniteData<Leaderboard | null> | undefined)?.pages[0];
  return result?.status === 'final';
}

/**
 * Refetches the ranks on screen that votes for launches off screen may change, unless the visitor is loading more
 * launches.
 */
export function refetchOvertaken(client: QueryClient): Promise<void> {
  const filters = { queryKey: productKeys.all, type: 'active', predicate: canBeOvertaken } as const;
  return client.refetchQueries(filters, { cancelRefetch: false });
}

/** Returns whether a query is a standing or a partly loaded board whose result is not final. */
function canBeOvertaken(query: Query): boolean {
  const [, kind] = query.queryKey;
  const { data } = query.state;
  if (kind === productKeys.standings[1]) return data != null && !isFinal(query);
  if (kind !== productKeys.boards[1]) return false;
  const pages = (data as InfiniteData<Leaderboard | null> | undefined)?.pages ?? [];
  const [first] = pages;
  return first != null && !isFinal(query) && first.launches > pages.flatMap((page) => page?.items ?? []).length;
}

/** Refetches the likes of the comments on screen. */
export async function refetchComments(
  { api, client, applier }: Pick<Refetcher, 'api' | 'client' | 'applier'>,
  productId: string,
): Promise<void> {
  const { result: items, startedAt } = await readBetweenWrites(api, async () => {
    const shown = visibleComments(client, productId);
    if (!shown) return [];
    const { sort, cursor } = shown.order;
    return fetchPages(sizeOf(shown.pages), cursor, (place) =>
      api.listComments(productId, { sort, limit: MAX_ITEMS, ...place }),
    );
  });
  const comments = items.map(({ id, likes }: Comment) => ({ productId, commentId: id, likes }));
  applier.apply({ comments }, startedAt);
}

async function fetchListed(
  api: ReadApi,
  { query, filters, pages, ids }: VisibleList,
  launches: LaunchWatch,
): Promise<Product[]> {
  const { cursor, ...order } = filters;
  const read = await fetchPages(sizeOf(pages), cursor, (place) =>
    api.listProducts({ ...order, limit: MAX_ITEMS, ...place }),
  );
  launches.findNew(read, query);
  const found = new Set(read.map(({ id }) => id));
  // Products may have moved out of the loaded range, e.g. in a list sorted by upvotes. At most `MAX_SINGLE_READS` of
  // them are read one by one, because a large import moves all of them, for every visitor at once.
  for (const id of [...ids].filter((each) => !found.has(each)).slice(0, MAX_SINGLE_READS)) {
    const detail = await api.getProduct(id);
    if (detail) read.push(detail.product);
  }
  return read.filter(({ id }) => ids.has(id));
}

interface Page<Item> {
  items: Item[];
  nextCursor: string | null;
}

/** Fetches at least the first `count` items after a cursor, in a few large pages instead of many small ones. */
async function fetchPages<Item>(
  count: number,
  from: string | undefined,
  read: (place: { cursor?: string }) => Promise<Page<Item>>,
): Promise<Item[]> {
  const items: Item[] = [];
  let cursor: string | null | undefined = from;
  do {
    const page: Page<Item> = await read(cursor ? { cursor } : {});
    items.push(...page.items);
    cursor = page.nextCursor;
  } while (cursor && items.length < count);
  return items;
}

function sizeOf(pages: readonly { items: readonly unknown[] }[]): number {
  return pages.reduce((sum, { items }) => sum + items.length, 0);
}
