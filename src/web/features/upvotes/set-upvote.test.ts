import { setImmediate as settled } from 'node:timers/promises';
import { MutationObserver, QueryClient, QueryObserver } from '@tanstack/react-query';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { createBrowserStorage } from '../../../../tests/support/browser-storage.ts';
import { exampleProduct } from '../../../../tests/support/product-data.ts';
import type { Api } from '../../../contract/api.ts';
import type { ProductDetail } from '../../../contract/products/schema.ts';
import type { UpvoteState } from '../../../contract/upvotes/schema.ts';
import { readOnlyApi } from '../../api/api-context.tsx';
import { ApiError } from '../../api/http-api.ts';
import { findListedProduct, productKeys, upvoteKeys } from '../../cache/cached-data.ts';
import { showCounts } from '../../cache/pending-writes.ts';
import { addToOutbox, outboxItems, removeSent } from '../../storage/outbox.ts';
import { upvoteStatusOptions } from './queries.ts';
import {
  rollBackQueuedUpvote,
  sendQueuedUpvote,
  setUpvoteOptions,
  showQueuedUpvote,
  toggleUpvote,
  watchVotes,
} from './set-upvote.ts';

vi.stubGlobal('navigator', { onLine: true });
vi.stubGlobal('document', { hidden: false });
vi.stubGlobal('window', Object.assign(new EventTarget(), { localStorage: createBrowserStorage() }));

afterEach(() => {
  vi.useRealTimers();
  for (const item of outboxItems()) removeSent(item);
});

type PendingRequest = { resolve: (state: UpvoteState) => void; reject: (error: Error) => void; upvoted: boolean };

/**
 * Caches a product with 7 upvotes. Returns functions to click its upvote button and to read the state on screen, and
 * the pending requests.
 */
function setUp() {
  const client = new QueryClient();
  client.setQueryData(productKeys.detail('harbour'), { product: exampleProduct(), previousId: null, nextId: null });
  client.setQueryData(['upvoted', 'harbour'], false);
  const requests: PendingRequest[] = [];
  const elsewhere: string[] = [];
  const unused = () => Promise.reject(new Error('not used in this test'));
  const api: Api = {
    ...readOnlyApi({
      listProducts: unused,
      getProduct: unused,
      getRelatedProducts: unused,
      listComments: unused,
      getLeaderboard: unused,
      getStandings: unused,
    }),
    getUpvoted: async () => ({ upvoted: elsewhere }),
    setUpvote: (_id, upvoted) => new Promise((resolve, reject) => requests.push({ resolve, reject, upvoted })),
  };
  const click = (upvoted: boolean) =>
    new MutationObserver(client, setUpvoteOptions(api, client, 'harbour')).mutate(upvoted).catch(() => undefined);
  const shown = () => [
    client.getQueryData(['upvoted', 'harbour']),
    client.getQueryData<ProductDetail>(productKeys.detail('harbour'))?.product.upvotes,
  ];
  const request = async (index: number): Promise<PendingRequest> => {
    await expect.poll(() => requests.length).toBeGreaterThan(index);
    const found = requests[index];
    if (!found) throw new Error(`There is no request ${index}`);
    return found;
  };
  const readStatus = () => client.fetchQuery({ ...upvoteStatusOptions(api, 'harbour'), staleTime: 0 });
  /** Sends an upvote that was queued offline. */
  const sendQueued = async () => {
    const queued = { kind: 'upvote', productId: 'harbour', upvoted: true, before: false } as const;
    addToOutbox(queued);
    showQueuedUpvote(client, queued);
    await sendQueuedUpvote(api, client, queued).catch((error) => rollBackQueuedUpvote(client, queued, error));
  };
  const showQueued = (upvoted: boolean) =>
    showQueuedUpvote(client, { kind: 'upvote', productId: 'harbour', upvoted, before: false });
  return { api, client, click, shown, request, requests, elsewhere, readStatus, sendQueued, showQueued };
}

describe('clicks on the upvote button', () => {
  test('a click is shown before the response, and the server’s count after the response', async () => {
    const { click, shown, request } = setUp();
    const done = click(true);
    expect(shown()).toEqual([true, 8]);
    (await request(0)).resolve({ upvoted: true, upvotes: 12 });
    await done;
    expect(shown()).toEqual([true, 12]);
  });

  test('a failed upvote is rolled back', async () => {
    const { click, shown, request } = setUp();
    const done = click(true);
    (await request(0)).reject(new Error('out of reach'));
    await done;
    expect(shown()).toEqual([false, 7]);
  });

  test('a failed upvote is rolled back in every list, whose counts may be newer than that of the product', async () => {
    const { client, click, request } = setUp();
    const items = [exampleProduct({ id: 'harbour', upvotes: 25 })];
    client.setQueryData(productKeys.list({}), { pages: [{ items, nextCursor: null }], pageParams: [''] });
    const listed = () => findListedProduct(client, 'harbour')?.product.upvotes;
    const done = click(true);
    expect(listed()).toBe(26);
    (await request(0)).reject(new Error('out of reach'));
    await done;
    expect(listed()).toBe(25);
  });

  test.each([0, 504])('after a failure with status %i, the vote is read from the server', async (status) => {
    const { click, client, shown, request, elsewhere, readStatus } = setUp();
    await readStatus();
    elsewhere.push('harbour');
    const done = click(true);
    (await request(0)).reject(new ApiError(status, 'unknown', 'The server could not be reached'));
    await done;
    expect(client.getQueryState(upvoteKeys.status('harbour'))).toMatchObject({ isInvalidated: true });
    await readStatus();
    expect(shown()[0]).toBe(true);
  });

  test('three quick clicks send one request after another, and the last click wins', async () => {
    const { click, shown, request, requests } = setUp();
    const done = Promise.all([click(true), click(false), click(true)]);
    expect(shown()).toEqual([true, 8]);
    (await request(0)).resolve({ upvoted: true, upvotes: 8 });
    expect((await request(1)).upvoted).toBe(false);
    expect(shown()).toEqual([true, 8]);
    (await request(1)).resolve({ upvoted: false, upvotes: 7 });
    (await request(2)).resolve({ upvoted: true, upvotes: 8 });
    await done;
    expect(requests).toHaveLength(3);
    expect(shown()).toEqual([true, 8]);
  });

  test('a failed last click restores the state that the server confirmed last', async () => {
    const { click, shown, request } = setUp();
    const done = Promise.all([click(true), click(false)]);
    (await request(0)).resolve({ upvoted: true, upvotes: 20 });
    (await request(1)).reject(new Error('out of reach'));
    await done;
    expect(shown()).toEqual([true, 20]);
  });
});

test('a product that is read while a click is pending includes the click until it fails', async () => {
  const { api, client, shown, request } = setUp();
  const isConfirmed = toggleUpvote(api, client, 'harbour');
  const queryFn = async () => ({ product: exampleProduct(), previousId: null, nextId: null });
  await client.fetchQuery({ queryKey: productKeys.detail('harbour'), queryFn });
  expect(shown()).toEqual([true, 8]);
  (await request(0)).reject(new Error('refused'));
  expect(await isConfirmed).toBe(false);
  expect(shown()).toEqual([false, 7]);
});

test('a failed click is rolled back even if the cached state of an earlier click expires meanwhile', async () => {
  vi.useFakeTimers();
  const { client, click, shown, requests } = setUp();
  client.setQueryDefaults(upvoteKeys.confirmed('harbour'), { gcTime: 5 * 60_000 });
  const first = click(true);
  await vi.advanceTimersByTimeAsync(0);
  requests[0]?.resolve({ upvoted: true, upvotes: 8 });
  await first;
  await vi.advanceTimersByTimeAsync(5 * 60_000 - 10_000);
  const second = click(false);
  await vi.advanceTimersByTimeAsync(20_000);
  requests[1]?.reject(new Error('out of reach'));
  await second;
  expect(shown()).toEqual([true, 8]);
});

describe('an upvote made in another tab', () => {
  test('is shown once the status is read again', async () => {
    const { elsewhere, readStatus, shown } = setUp();
    elsewhere.push('harbour');
    await readStatus();
    expect(shown()).toEqual([true, 7]);
  });

  test.each([
    ['is counted', 7, 8],
    ['does not replace a count that arrives while the product is read', 9, 9],
  ])('%s', async (_name, live, expected) => {
    const { api, client, elsewhere, readStatus, shown } = setUp();
    let respond = () => {};
    const detail = { product: exampleProduct({ upvotes: 8 }), previousId: null, nextId: null };
    api.getProduct = () =>
      new Promise((resolve) => {
        respond = () => resolve(detail);
      });
    const stop = watchVotes(api, client);
    elsewhere.push('harbour');
    await readStatus();
    showCounts(client, { id: 'harbour', upvotes: live, comments: 0 });
    respond();
    await settled();
    expect(shown()).toEqual([true, expected]);
    stop();
  });

  test('does not override a pending click in this tab', async () => {
    const { click, request, elsewhere, readStatus, shown } = setUp();
    elsewhere.push('harbour');
    const done = Promise.all([click(true), click(false)]);
    await readStatus();
    expect(shown()).toEqual([false, 7]);
    (await request(0)).resolve({ upvoted: true, upvotes: 8 });
    (await request(1)).resolve({ upvoted: false, upvotes: 7 });
    await done;
  });
});

describe('upvotes that were queued offline', () => {
  test('an upvote that another tab queues and then removes is shown and then removed in this tab', () => {
    const { shown, showQueued } = setUp();
    showQueued(true);
    expect(shown()).toEqual([true, 8]);
    showQueued(false);
    expect(shown()).toEqual([false, 7]);
  });

  test('an upvote that a cached list counts is not counted again after its button has left the page', async () => {
    vi.useFakeTimers();
    const { api, client, showQueued } = setUp();
    client.removeQueries({ queryKey: upvoteKeys.statuses });
    // The default in browsers for queries other than lists.
    client.setDefaultOptions({ queries: { gcTime: 5 * 60_000 } });
    client.setQueryDefaults(productKeys.lists, { gcTime: 30 * 60_000 });
    const items = [exampleProduct({ id: 'harbour', upvotes: 25 })];
    client.setQueryData(productKeys.list({}), { pages: [{ items, nextCursor: null }], pageParams: [''] });
    const leave = new QueryObserver(client, upvoteStatusOptions(api, 'harbour')).subscribe(() => {});
    showQueued(true);
    leave();
    await vi.advanceTimersByTimeAsync(10 * 60_000);
    showQueued(true);
    expect(findListedProduct(client, 'harbour')?.product.upvotes).toBe(26);
  });

  test('removing an upvote while it is being sent sends the removal after the response', async () => {
    const { sendQueued, click, shown, request, requests } = setUp();
    const sent = sendQueued();
    expect((await request(0)).upvoted).toBe(true);
    const done = click(false);
    expect(shown()).toEqual([false, 7]);
    await new Promise(setImmediate);
    expect(requests, 'before the first response').toHaveLength(1);
    (await request(0)).resolve({ upvoted: true, upvotes: 12 });
    expect((await request(1)).upvoted).toBe(false);
    await sent;
    expect(shown()).toEqual([false, 7]);
    expect(outboxItems()).toEqual([]);
    (await request(1)).resolve({ upvoted: false, upvotes: 11 });
    await done;
    expect(shown()).toEqual([false, 11]);
  });

  test('a queued upvote is not sent if an earlier click has replaced it', async () => {
    const { sendQueued, click, shown, request, requests } = setUp();
    const done = Promise.all([click(false), sendQueued()]);
    const first = await request(0);
    expect(first.upvoted).toBe(false);
    first.resolve({ upvoted: false, upvotes: 9 });
    await done;
    expect(requests).toHaveLength(1);
    expect(shown()).toEqual([false, 9]);
  });

  test('an upvote stays queued if the request to remove it fails', async () => {
    const { showQueued, click, shown, request } = setUp();
    const queued = { kind: 'upvote', productId: 'harbour', upvoted: true, before: false } as const;
    addToOutbox(queued);
    showQueued(true);
    const done = click(false);
    (await request(0)).reject(new Error('out of reach'));
    await done;
    expect(shown()).toEqual([true, 8]);
    expect(outboxItems()).toEqual([queued]);
  });

  test('a refused upvote does not undo a click that was made while it was being sent', async () => {
    const { sendQueued, click, shown, request } = setUp();
    const sent = sendQueued();
    const first = await request(0);
    const done = Promise.all([click(false), click(true)]);
    first.reject(new Error('refused'));
    await sent;
    expect(shown()).toEqual([true, 8]);
    (await request(1)).resolve({ upvoted: false, upvotes: 7 });
    (await request(2)).reject(new Error('out of reach'));
    await done;
    expect(shown()).toEqual([false, 7]);
  });
});
