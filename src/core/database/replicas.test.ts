import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { buildProduct } from '../../../tests/support/build-product.ts';
import {
  asAdmin,
  onEach,
  type ReplicatedServers,
  startReplicatedServers,
} from '../../../tests/support/replicated-servers.ts';
import { silentLog } from '../../../tests/support/silent-log.ts';
import { MIGRATIONS } from '../../../tests/support/test-database.ts';
import { type Core, createCore } from '../core.ts';
import { saveProducts } from '../products/save-products.ts';
import { type Database, openDatabase } from './database.ts';
import { migrate } from './migrate.ts';
import { openReplicas, type ReplicatedReads } from './replicas.ts';

let servers: ReplicatedServers;
let primary: Database;
let reads: ReplicatedReads;
let core: Core;
let sessions = 0;

beforeAll(async () => {
  servers = await startReplicatedServers(2);
  primary = openDatabase({ url: servers.primary.url, log: silentLog });
  await migrate(primary, MIGRATIONS, silentLog);
  await saveProducts(primary, [buildProduct({ id: 'tide' }), buildProduct({ id: 'ebb' })]);
}, 60_000);
afterAll(async () => {
  await primary.close();
  await servers.remove();
}, 60_000);

beforeEach(async () => {
  const urls = servers.replicas.map(({ url }) => url);
  reads = openReplicas(primary, urls, { log: silentLog, maxConnections: 3 });
  core = createCore(primary, { reads, onWrite: reads.noteChange });
});
afterEach(() => reads.close());

const usable = () => reads.stats().usable;
const untilUsable = (count: number) => expect.poll(usable, { timeout: 20_000 }).toBe(count);

/** One more upvote, by a session of its own. */
async function upvote(productId = 'tide') {
  sessions += 1;
  const session = `session-number-${sessions}`;
  const { upvotes } = await core.setUpvote({ productId, session, upvoted: true });
  return { session, upvotes };
}

async function readsDuring(work: () => Promise<unknown>): Promise<{ primary: number; replicas: number }> {
  const before = reads.stats();
  await work();
  const after = reads.stats();
  return { primary: after.primary - before.primary, replicas: after.replicas - before.replicas };
}

/** Everything that shows an upvote shows this one. */
async function expectSeen(session: string, upvotes: number, productId = 'tide') {
  expect((await core.getProduct(productId))?.product.upvotes).toBe(upvotes);
  const { items } = await core.listProducts({});
  expect(items.find(({ id }) => id === productId)?.upvotes).toBe(upvotes);
  expect((await core.getUpvoted([productId], session)).upvoted).toEqual([productId]);
}

describe('replicas of a real server', () => {
  test('are read when nothing is written, and soon after a write again', async () => {
    await untilUsable(2);
    expect(await readsDuring(() => core.getProduct('tide'))).toEqual({ primary: 0, replicas: 2 });
    const { session, upvotes } = await upvote();
    await expectSeen(session, upvotes);
    await expect.poll(() => readsDuring(() => expectSeen(session, upvotes))).toEqual({ primary: 0, replicas: 4 });
  });

  test('every write is seen at once by whoever asks, a hundred times in a row', async () => {
    await untilUsable(2);
    for (let round = 0; round < 100; round += 1) {
      const { session, upvotes } = await upvote();
      await expectSeen(session, upvotes);
      expect((await core.getProduct('ebb'))?.product.upvotes).toBe(0);
    }
    // The other product was not written to: both of its statements went to a replica each time.
    expect(reads.stats().replicas).toBeGreaterThanOrEqual(200);
  });

  test('that lag are passed over for what was written, and read for the rest, until they lag too far', async () => {
    await untilUsable(2);
    await onEach(servers.replicas, 'SELECT pg_wal_replay_pause()');
    try {
      const { session, upvotes } = await upvote();
      expect(await readsDuring(() => expectSeen(session, upvotes))).toEqual({ primary: 4, replicas: 0 });
      expect(await readsDuring(() => core.getProduct('ebb'))).toEqual({ primary: 0, replicas: 2 });
      // A browser that has written at another process.
      reads.noteWriteAt(Date.now());
      expect(await readsDuring(() => core.getProduct('ebb'))).toEqual({ primary: 2, replicas: 0 });
      await untilUsable(0);
      await expectSeen(session, upvotes);
    } finally {
      await onEach(servers.replicas, 'SELECT pg_wal_replay_resume()');
    }
    await untilUsable(2);
    expect(await readsDuring(() => core.getProduct('tide'))).toEqual({ primary: 0, replicas: 2 });
  });

  test('that stop are passed over within the same request, and read again when they are back', async () => {
    await untilUsable(2);
    const [first, second] = servers.replicas;
    await first?.stop();
    // Whichever of them is next, nobody notices.
    for (let round = 0; round < 4; round += 1) expect(await core.getProduct('tide')).not.toBeNull();
    await untilUsable(1);
    await second?.stop();
    for (let round = 0; round < 4; round += 1) expect(await core.getProduct('tide')).not.toBeNull();
    await untilUsable(0);
    const { session, upvotes } = await upvote();
    await expectSeen(session, upvotes);
    await first?.start();
    await second?.start();
    await untilUsable(2);
    expect(await readsDuring(() => expectSeen(session, upvotes))).toEqual({ primary: 0, replicas: 4 });
  });

  test('when the primary is away, what they are known to show is still read, and nothing else', async () => {
    await untilUsable(2);
    const before = (await core.getProduct('ebb'))?.product.upvotes;
    await servers.primary.stop();
    try {
      expect((await core.getProduct('ebb'))?.product.upvotes).toBe(before);
      reads.noteWriteAt(Date.now());
      await expect(core.getProduct('ebb')).rejects.toThrow(/cannot be reached/);
      await expect(upvote('ebb')).rejects.toThrow(/cannot be reached/);
    } finally {
      await servers.primary.start();
    }
    await untilUsable(2);
    expect((await core.getProduct('ebb'))?.product.upvotes).toBe(before);
  });

  test('that are promoted are not read any more, and what is written goes to the primary', async () => {
    await untilUsable(2);
    const [promoted] = servers.replicas;
    await asAdmin(promoted?.adminUrl ?? '', 'SELECT pg_promote()');
    const { session, upvotes } = await upvote();
    await expectSeen(session, upvotes);
    await untilUsable(1);
    for (let round = 0; round < 10; round += 1) {
      const next = await upvote();
      await expectSeen(next.session, next.upvotes);
    }
    const [row] = await primary.query<{ upvotes: number }>(
      "SELECT count(*)::integer AS upvotes FROM upvotes WHERE product_id = 'tide'",
    );
    expect(row?.upvotes).toBe(upvotes + 10);
  });
});
