import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildProduct } from '../../../tests/support/build-product.ts';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts';
import { createCore, DEFAULT_LAUNCHES } from '../core.ts';
import { createVoteNetworks } from '../leaderboards/vote-networks.ts';
import { readLiveComments, readLiveCounts } from '../live/read-live.ts';
import { systemRuntime } from '../runtime.ts';
import { inspectProduct } from './get-product.ts';
import { saveProducts } from './save-products.ts';

const LAUNCH = Date.parse('2026-03-01T12:00:00.000Z');
const SESSION = 'session-of-a-visitor';

let database: TestDatabase;
let now = LAUNCH - 1;
beforeAll(async () => {
  database = await createTestDatabase();
  const at = (ms: number) => new Date(LAUNCH + ms).toISOString();
  await saveProducts(database, [
    buildProduct({ id: 'before', name: 'Before the wave', tags: ['sea'], createdAt: at(-60_000) }),
    buildProduct({ id: 'scheduled', name: 'Scheduled wave', tags: ['sea'], createdAt: at(0) }),
  ]);
});
afterAll(() => database.drop());

/** Creates a core without any cached state, like that of a process that has just started. */
function core() {
  const runtime = { ...systemRuntime, now: () => new Date(now) };
  const networks = createVoteNetworks(database, { runtime, timeZone: 'UTC' });
  return createCore(database, { runtime, launches: { ...DEFAULT_LAUNCHES, networks } });
}

const idsOf = ({ items }: { items: { id: string }[] }) => items.map(({ id }) => id);

/** Performs operations by which a visitor could notice the scheduled product. */
async function seen() {
  const visitor = core();
  const addresses: string[] = [];
  for await (const batch of visitor.readProductAddresses({ after: '', upTo: '' }, 10))
    addresses.push(...batch.map(({ id }) => id));
  const refused = (error: { code?: string }) => error.code;
  return {
    lists: await Promise.all([
      visitor.listProducts({}).then(idsOf),
      visitor.listProducts({ sort: 'top' }).then(idsOf),
      visitor.listProducts({ sort: 'discussed' }).then(idsOf),
    ]),
    searches: await Promise.all([
      visitor.listProducts({ q: 'scheduled wave' }).then(idsOf),
      visitor.listProducts({ q: 's', sort: 'top' }).then((page) => idsOf(page).includes('scheduled')),
      visitor.listProducts({ tag: 'sea' }).then(idsOf),
    ]),
    product: (await visitor.getProduct('scheduled'))?.product.id,
    neighbour: (await visitor.getProduct('before'))?.previousId,
    addresses,
    ranges: (await visitor.splitProductRanges(1)).length,
    comments: await visitor.listComments('scheduled', {}).then(({ total }) => total, refused),
    upvote: await visitor
      .setUpvote({ productId: 'scheduled', session: SESSION, upvoted: true })
      .then(({ upvotes }) => upvotes, refused),
    comment: await visitor
      .addComment({ productId: 'scheduled', content: 'First!' }, { session: SESSION })
      .then(({ comment }) => comment.content, refused),
    live: (await readLiveCounts(database, ['scheduled'], new Date(now))).length,
  };
}

describe('scheduled products', () => {
  test('a scheduled product does not exist for visitors until the exact millisecond of its launch', async () => {
    now = LAUNCH - 1;
    expect(await seen()).toEqual({
      lists: [['before'], ['before'], ['before']],
      searches: [[], false, ['before']],
      product: undefined,
      neighbour: null,
      addresses: ['before'],
      ranges: 1,
      comments: 'product_not_found',
      upvote: 'product_not_found',
      comment: 'product_not_found',
      live: 0,
    });
    expect(await inspectProduct(database, 'scheduled')).toMatchObject({ product: { id: 'scheduled' } });
  });

  test('a scheduled product is visible everywhere from its launch on', async () => {
    now = LAUNCH;
    expect(await seen()).toMatchObject({
      lists: [['scheduled', 'before'], expect.arrayContaining(['scheduled']), expect.arrayContaining(['scheduled'])],
      searches: [['scheduled'], true, ['scheduled', 'before']],
      product: 'scheduled',
      neighbour: 'scheduled',
      addresses: ['before', 'scheduled'],
      comments: 0,
      upvote: 1,
      comment: 'First!',
      live: 1,
    });
  });

  test('a launched product is hidden again, with its comments, if its launch is moved into the future', async () => {
    now = LAUNCH;
    const { comment } = await core().addComment({ productId: 'scheduled', content: 'Second!' }, { session: SESSION });
    const liveComments = () => readLiveComments(database, ['scheduled'], [comment.id], new Date(now));
    expect(await liveComments()).toEqual([{ productId: 'scheduled', commentId: comment.id, likes: 0 }]);
    await saveProducts(database, [
      buildProduct({ id: 'scheduled', createdAt: new Date(LAUNCH + 1_000).toISOString() }),
    ]);
    expect(await seen()).toMatchObject({
      product: undefined,
      comments: 'product_not_found',
      upvote: 'product_not_found',
      live: 0,
    });
    expect(await liveComments()).toEqual([]);
    await expect(core().likeComment({ commentId: comment.id, session: SESSION })).rejects.toMatchObject({
      code: 'comment_not_found',
    });
  });
});
