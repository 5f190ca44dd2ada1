import type { QueryClient } from '@tanstack/react-query';
import type { ReadApi } from '../../../contract/api.ts';
import type { Comment } from '../../../contract/comments/schema.ts';
import { LIMITS } from '../../../contract/limits.ts';
import type { LiveCounts } from '../../../contract/live/schema.ts';
import type { Product } from '../../../contract/products/schema.ts';
import type { NewsTaker } from './apply-news.ts';
import type { LaunchWatch } from './launch-watch.ts';
import { type ShownList, shownComments, shownList, shownProductId } from './shown.ts';

const MOST = LIMITS.pageSize.max;

export interface AgainReader {
  api: ReadApi;
  client: QueryClient;
  taker: NewsTaker;
  launches: LaunchWatch;
}

/**
 * Reads the counts of all that is on screen, beside what the pages themselves read: nothing moves and nothing is added.
 * @throws ApiError as the API does.
 */
export async function readShownAgain({ api, client, taker, launches }: AgainReader): Promise<void> {
  const startedAt = performance.now();
  const list = shownList(client);
  const productId = shownProductId(client);
  const [listed, detail] = await Promise.all([
    list ? readListed(api, list, launches) : [],
    productId === undefined ? null : api.getProduct(productId),
  ]);
  const counts = [...listed, ...(detail ? [detail.product] : [])].map(countsOf);
  taker.tell({ counts }, startedAt);
  if (productId !== undefined) await readCommentsAgain({ api, client, taker }, productId);
}

/** Reads the likes of the comments on screen, and how many there are by now. */
export async function readCommentsAgain(
  { api, client, taker }: Pick<AgainReader, 'api' | 'client' | 'taker'>,
  productId: string,
): Promise<void> {
  const shown = shownComments(client, productId);
  if (!shown) return;
  const startedAt = performance.now();
  const { sort, cursor } = shown.order;
  const items = await readPages(sizeOf(shown.pages), cursor, (place) =>
    api.listComments(productId, { sort, limit: MOST, ...place }),
  );
  const comments = items.map(({ id, likes }: Comment) => ({ productId, commentId: id, likes }));
  taker.tell({ comments }, startedAt);
}

async function readListed(api: ReadApi, { filters, pages, ids }: ShownList, launches: LaunchWatch): Promise<Product[]> {
  const { cursor, ...order } = filters;
  const read = await readPages(sizeOf(pages), cursor, (place) => api.listProducts({ ...order, limit: MOST, ...place }));
  launches.look(read);
  const found = new Set(read.map(({ id }) => id));
  // By upvotes or comments some have moved out of what was read.
  for (const id of ids) {
    if (found.has(id)) continue;
    const detail = await api.getProduct(id);
    if (detail) read.push(detail.product);
  }
  return read.filter(({ id }) => ids.has(id));
}

interface Page<Item> {
  items: Item[];
  nextCursor: string | null;
}

/** The first items from a place on, at least so many, a few large pages instead of many small ones. */
async function readPages<Item>(
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

function countsOf({ id, upvotes, comments }: Product): LiveCounts {
  return { id, upvotes, comments };
}
