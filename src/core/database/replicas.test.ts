import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { buildProduct } from '../../../tests/support/build-product.ts';
import { createLogLines } from '../../../tests/support/log-lines.ts';
import {
  asAdmin,
  onEach,
  type ReplicatedServers,
  startReplicatedServers,
} from '../../../tests/support/replicated-servers.ts';
import { silentLog } from '../../../tests/support/silent-log.ts';
import { createTestDatabase, MIGRATIONS } from '../../../tests/support/test-database.ts';
import { type Core, createCore } from '../core.ts';
import { refreshLaunches } from '../leaderboards/launch-votes.ts';
import { placeLaunches } from '../leaderboards/update-boards.ts';
import { saveProducts } from '../products/save-products.ts';
import { systemRuntime } from '../runtime.ts';
import { type Database, openDatabase } from './database.ts';
import { migrate } from './migrate.ts';
import { readPosition } from './replica-watch.ts';
import { openReplicas, type ReplicatedReads } from './replicas.ts';

let servers: ReplicatedServers;
let primary: Database;
let reads: ReplicatedReads;
let core: Core;
let logLines: ReturnType<typeof createLogLines>;
let sessions = 0;

beforeAll(async () => {
  servers = await startReplicatedServers(2);
  primary = openDatabase({ url: servers.primary.url, log: silentLog });
  await migrate(primary, MIGRATIONS, silentLog);
  await saveProducts(primary, [buildProduct({ id: 'tide' }), buildProduct({ id: 'ebb' })]);
});
afterAll(async () => {
  await primary.close();
  await servers.remove();
});

const { setTimeout } = globalThis;

beforeEach(async () => {
  // On a busy machine, a check of a replica may take longer than its timeout, which would make the replica unusable.
  vi.spyOn(globalThis, 'setTimeout').mockImplementation((callback, ms = 0, ...values) =>
    setTimeout(callback, ms < 1_000 ? ms : 60_000, ...values),
  );
  logLines = createLogLines();
  const urls = servers.replicas.map(({ url }) => url);
  reads = openReplicas(primary, urls, { log: logLines.log, maxConnections: 3 });
  core = createCore(primary, { reads, onWrite: reads.noteChange });
});
afterEach(async () => {
  vi.restoreAllMocks();
  await reads.close();
});

const usable = () => reads.stats().usable;
const untilUsable = (count: number) => expect.poll(usable).toBe(count);

/**
 * Pauses the replicas and the clock, so the replicas do not lag too far while `work` runs. The clock advances only
 * slightly with each reading, and by the milliseconds that `work` passes to its argument.
 */
async function whilePaused(work: (pass: (ms: number) => void) => Promise<void>): Promise<void> {
  let nowMs = performance.now();
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => {
    nowMs += 0.001;
    return nowMs;
  });
  await untilUsable(2);
  await onEach(servers.replicas, 'SELECT pg_wal_replay_pause()');
  try {
    await work((ms) => {
      nowMs += ms;
    });
  } finally {
    clock.mockRestore();
    await onEach(servers.replicas, 'SELECT pg_wal_replay_resume()');
  }
}

/** Lets the paused replicas lag so far that they are no longer read. */
async function untilLagging(pass: (ms: number) => void): Promise<void> {
  const logged = () => logLines.lines().filter(({ reason }) => reason === 'The replica lags').length;
  const before = logged();
  pass(5_000);
  await expect.poll(logged).toBe(before + 2);
}

/** Adds an upvote by a new session. */
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

/** Expects every read that shows upvotes to show this one. */
async function expectSeen(session: string, upvotes: number, productId = 'tide') {
  expect((await core.getProduct(productId))?.product.upvotes).toBe(upvotes);
  const { items } = await core.listProducts({});
  expect(items.find(({ id }) => id === productId)?.upvotes).toBe(upvotes);
  expect((await core.getUpvoted([productId], session)).upvoted).toEqual([productId]);
}

describe('replicas of a real server', () => {
  test('replicas are read when there are no writes, and again soon after a write', async () => {
    await untilUsable(2);
    await expect.poll(() => readsDuring(() => core.getProduct('tide'))).toEqual({ primary: 0, replicas: 2 });
    const { session, upvotes } = await upvote();
    await expectSeen(session, upvotes);
    await expect.poll(() => readsDuring(() => expectSeen(session, upvotes))).toEqual({ primary: 0, replicas: 4 });
  });

  test('every write is immediately visible to all reads, a hundred times in a row', async () => {
    await untilUsable(2);
    for (let round = 0; round < 100; round += 1) {
      const { session, upvotes } = await upvote();
      await expectSeen(session, upvotes);
      expect((await core.getProduct('ebb'))?.product.upvotes).toBe(0);
    }
    // 'ebb' was not written, so its reads went to a replica, except in rounds in which both replicas were unusable.
    expect(reads.stats().replicas).toBeGreaterThan(100);
  });

  test('lagging replicas are skipped for recently written data, and read for other data until they lag too far', async () => {
    await whilePaused(async (pass) => {
      const { session, upvotes } = await upvote();
      expect(await readsDuring(() => expectSeen(session, upvotes))).toEqual({ primary: 4, replicas: 0 });
      expect(await readsDuring(() => core.getProduct('ebb'))).toEqual({ primary: 0, replicas: 2 });
      // Reads for a browser that has just written through another process go to the primary.
      const readOfWriter = () => reads.runAsOf(performance.now(), () => core.getProduct('ebb'));
      expect(await readsDuring(readOfWriter)).toEqual({ primary: 2, replicas: 0 });
      // Reads for other visitors still go to the replicas.
      expect(await readsDuring(() => core.getProduct('ebb'))).toEqual({ primary: 0, replicas: 2 });
      await untilLagging(pass);
      expect(usable()).toBe(0);
      await expectSeen(session, upvotes);
    });
    await expect.poll(() => readsDuring(() => core.getProduct('tide'))).toEqual({ primary: 0, replicas: 2 });
  });

  test('replicas show a scheduled launch at its exact millisecond, even while they lag', async () => {
    const launch = Date.now() + 3_600_000;
    let now = launch - 1;
    const visitor = createCore(primary, { reads, runtime: { ...systemRuntime, now: () => new Date(now) } });
    await saveProducts(primary, [buildProduct({ id: 'scheduled', createdAt: new Date(launch).toISOString() })]);
    // This query fails with a division by zero until the product has arrived.
    const isThere = "SELECT 1 / count(*) FROM products WHERE id = 'scheduled'";
    const arrived = () =>
      Promise.all(servers.replicas.map(({ url }) => asAdmin(url, isThere))).then(
        () => true,
        () => false,
      );
    await expect.poll(arrived).toBe(true);
    await whilePaused(async () => {
      const idsOf = async () => (await visitor.listProducts({})).items.map(({ id }) => id);
      expect(await readsDuring(async () => expect(await idsOf()).not.toContain('scheduled'))).toMatchObject({
        primary: 0,
      });
      expect(await visitor.getProduct('scheduled')).toBeNull();
      now = launch;
      expect(await readsDuring(async () => expect((await idsOf())[0]).toBe('scheduled'))).toMatchObject({ primary: 0 });
      expect((await visitor.getProduct('scheduled'))?.product.id).toBe('scheduled');
    });
    await primary.query("DELETE FROM products WHERE id = 'scheduled'");
  });

  test('lagging replicas are not read for the rank of a launch that another launch has overtaken', async () => {
    const now = new Date();
    const ids = ['leader', 'rival'];
    await saveProducts(
      primary,
      ids.map((id) => buildProduct({ id, createdAt: now.toISOString() })),
    );
    await placeLaunches(primary, { now, timeZone: 'UTC', reviewHours: 24 });
    const rank = async () => (await core.getStandings('leader'))?.day.rank;
    await whilePaused(async () => {
      await upvote('rival');
      await refreshLaunches(primary, ids);
      reads.noteChange({ productIds: ['rival'], catalogue: false });
      expect(await rank()).toBe(2);
    });
    await primary.query('DELETE FROM products WHERE id = ANY($1::text[])', [ids]);
  });

  test('stopped replicas are skipped within the same request, and read again once they are back', async () => {
    await untilUsable(2);
    const [first, second] = servers.replicas;
    await first?.stop();
    // Reads alternate between the replicas, so some of these reads first go to the stopped one.
    for (let round = 0; round < 4; round += 1) expect(await core.getProduct('tide')).not.toBeNull();
    await untilUsable(1);
    await second?.stop();
    for (let round = 0; round < 4; round += 1) expect(await core.getProduct('tide')).not.toBeNull();
    await untilUsable(0);
    const { session, upvotes } = await upvote();
    await expectSeen(session, upvotes);
    await first?.start();
    await second?.start();
    await expect.poll(() => readsDuring(() => expectSeen(session, upvotes))).toEqual({ primary: 0, replicas: 4 });
  });

  test('replicas serve only verified data while the primary is unavailable', async () => {
    await untilUsable(2);
    const before = (await core.getProduct('ebb'))?.product.upvotes;
    await servers.primary.stop();
    try {
      await untilUsable(2);
      expect((await core.getProduct('ebb'))?.product.upvotes).toBe(before);
      await expect(reads.runAsOf(performance.now(), () => core.getProduct('ebb'))).rejects.toThrow(/is unavailable/);
      await expect(upvote('ebb')).rejects.toThrow(/is unavailable/);
    } finally {
      await servers.primary.start();
    }
    await untilUsable(2);
    expect((await core.getProduct('ebb'))?.product.upvotes).toBe(before);
  });

  test('while the primary is unavailable, replicas are read after a slow statement, and again after a restart', async () => {
    await untilUsable(2);
    const before = (await core.getProduct('ebb'))?.product.upvotes;
    await servers.primary.stop();
    try {
      await untilUsable(2);
      const slow = () => reads.of({}).query('SELECT pg_sleep(1)', [], { timeoutMs: 100 });
      for (const _ of servers.replicas) await expect(slow()).rejects.toThrow(/is unavailable/);
      for (const _ of servers.replicas) expect((await core.getProduct('ebb'))?.product.upvotes).toBe(before);
      for (const replica of servers.replicas) await replica.stop();
      for (const _ of servers.replicas) await expect(core.getProduct('ebb')).rejects.toThrow(/is unavailable/);
      for (const replica of servers.replicas) await replica.start();
      await untilUsable(2);
      expect((await core.getProduct('ebb'))?.product.upvotes).toBe(before);
      await expect(reads.runAsOf(performance.now(), () => core.getProduct('ebb'))).rejects.toThrow(/is unavailable/);
    } finally {
      await servers.primary.start();
    }
    await untilUsable(2);
  });

  test('replicas that never get the last writes of an unavailable primary are read for other data', async () => {
    const before = (await core.getProduct('ebb'))?.product.upvotes;
    await whilePaused(async (pass) => {
      await upvote('tide');
      await untilLagging(pass);
      await servers.primary.stop();
      try {
        await untilUsable(2);
        expect((await core.getProduct('ebb'))?.product.upvotes).toBe(before);
        await expect(core.getProduct('tide')).rejects.toThrow(/is unavailable/);
      } finally {
        await servers.primary.start();
      }
    });
    await untilUsable(2);
  });

  test('replicas of a server other than the primary are not read', async () => {
    const other = await createTestDatabase({ migrated: false });
    const { log, lines } = createLogLines();
    const foreign = openReplicas(other, [servers.replicas[0]?.url ?? ''], { log, maxConnections: 1 });
    try {
      await expect.poll(() => lines()[0]?.reason).toMatch(/is a replica of another server/);
      expect(foreign.stats().usable).toBe(0);
    } finally {
      await foreign.close();
      await other.drop();
    }
  });

  test('a primary in recovery is not mistaken for an engine without positions', async () => {
    const recovering = openDatabase({ url: servers.replicas[0]?.url ?? '', log: silentLog });
    await expect(readPosition(recovering)).rejects.toThrow('recovery is in progress');
    await recovering.close();
  });

  test('promoted replicas are no longer read, and writes still go to the primary', async () => {
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
