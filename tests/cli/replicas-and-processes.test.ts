import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { describeUrl } from '../../src/core/database/connect.ts';
import { openDatabase } from '../../src/core/database/database.ts';
import { migrate } from '../../src/core/database/migrate.ts';
import { saveProducts } from '../../src/core/products/save-products.ts';
import { buildProduct } from '../support/build-product.ts';
import { CommandHarness } from '../support/command.ts';
import { installCommand } from '../support/installed-command.ts';
import { runProgram } from '../support/program.ts';
import {
  asAdmin,
  onEach,
  type ReplicatedServers,
  startReplicatedServers,
  type TestServer,
} from '../support/replicated-servers.ts';
import { silentLog } from '../support/silent-log.ts';
import { createTestDatabase, MIGRATIONS } from '../support/test-database.ts';
import { Visitor } from '../support/visitor.ts';

const TOKEN = 'a-token-of-this-test';
const VISITORS = 6;
const PROCESSES = 3;
const ROUNDS_PER_PHASE = 30;
const PAUSES = Number(process.env.CRASH_ROUNDS ?? 1);

const harness = new CommandHarness();
let servers: ReplicatedServers;
beforeAll(async () => {
  await installCommand();
  servers = await startReplicatedServers(2);
  const primary = openDatabase({ url: servers.primary.url, log: silentLog });
  await migrate(primary, MIGRATIONS, silentLog);
  const own = Array.from({ length: VISITORS }, (_, visitor) => buildProduct({ id: `of-visitor-${visitor}` }));
  await saveProducts(primary, [buildProduct({ id: 'tide' }), ...own]);
  await primary.close();
});
afterEach(() => harness.clear());
afterAll(() => servers.remove());

const upvotesOnPage = (html: string) => Number(/\\?"upvotes\\?":(\d+)/.exec(html)?.[1]);

test('every visitor reads their own writes from every process while replicas lag, stop and return', async () => {
  const site = await harness.serve({
    DATABASE_URL: servers.primary.url,
    DATABASE_REPLICA_URL: servers.replicas.map(({ url }) => url).join(','),
    WEB_CONCURRENCY: String(PROCESSES),
    METRICS_TOKEN: TOKEN,
    RATE_LIMITS: 'off',
    LOG_LEVEL: 'silent',
  });
  const older: string[] = [];
  let rounds = 0;
  let isOver = false;

  /** Writes, and immediately reads over another connection, which most likely reaches another process. */
  async function visit(number: number): Promise<void> {
    const own = `of-visitor-${number}`;
    const visitor = new Visitor(site.address, `session-of-visitor-${number}`, PROCESSES + 1);
    let last = performance.now();
    const expectNewest = (isNewest: boolean, what: string) => {
      const elapsedMs = performance.now() - last;
      last += elapsedMs;
      // The site serves an older response if a newer one is not ready after two seconds.
      if (!isNewest && elapsedMs < 1_900) older.push(`${what} in round ${rounds}`);
    };
    try {
      for (let upvoted = true; !isOver; upvoted = !upvoted) {
        const written = await visitor.json<{ upvotes: number }>(
          upvoted ? 'PUT' : 'DELETE',
          `/api/products/${own}/upvote`,
        );
        const status = await visitor.json<{ upvoted: string[] }>('GET', `/api/upvotes?products=tide,${own}`);
        expectNewest(status.upvoted.includes(own) === upvoted, 'their own upvote');
        const { product } = await visitor.json<{ product: { upvotes: number } }>('GET', `/api/products/${own}`);
        expectNewest(product.upvotes === written.upvotes, 'the count');
        await visitor.json(upvoted ? 'DELETE' : 'PUT', '/api/products/tide/upvote');
        const toggled = await visitor.json<{ upvoted: string[] }>('GET', `/api/upvotes?products=tide,${own}`);
        expectNewest(toggled.upvoted.includes('tide') === !upvoted, 'their upvote of a shared product');
        const page = await visitor.ask('GET', `/product/${own}`);
        expectNewest(upvotesOnPage(page.body) === written.upvotes, 'the page');
        const { comment } = await visitor.json<{ comment: { id: string } }>('POST', '/api/comments', {
          productId: own,
          content: `Round ${rounds} of visitor ${number}, and what came of it.`,
        });
        const { items } = await visitor.json<{ items: { id: string }[] }>(
          'GET',
          `/api/products/${own}/comments?sort=newest`,
        );
        // Each process dates comments by its own estimate of the database's clock, so the newest may not be first.
        const isListed = items.some(({ id }) => id === comment.id);
        expectNewest(isListed, 'the comments');
        rounds += 1;
      }
    } finally {
      visitor.close();
    }
  }
  const more = async () => {
    const goal = rounds + ROUNDS_PER_PHASE;
    await expect.poll(() => rounds).toBeGreaterThanOrEqual(goal);
  };
  const metrics = async () =>
    (await fetch(`${site.address}/metrics`, { headers: { authorization: `Bearer ${TOKEN}` } })).text();
  const readFromReplicas = async () =>
    Number(/groundswell_reads_total\{from="replicas"\} (\d+)/.exec(await metrics())?.[1]);
  const untilUsable = (count: number) =>
    expect.poll(async () => Number(/groundswell_replicas_usable (\d+)/.exec(await metrics())?.[1])).toBe(count);

  await untilUsable(2);
  const visitors = Promise.all(Array.from({ length: VISITORS }, (_, number) => visit(number)));
  visitors.catch(() => {
    isOver = true;
  });
  try {
    await more();
    for (let pause = 0; pause < PAUSES; pause += 1) {
      await onEach(servers.replicas, 'SELECT pg_wal_replay_pause()');
      await more();
      await onEach(servers.replicas, 'SELECT pg_wal_replay_resume()');
      await more();
    }
    await servers.replicas[0]?.stop();
    await more();
    await servers.replicas[0]?.start();
    await more();
  } finally {
    isOver = true;
    await visitors;
  }
  expect(older).toEqual([]);
  await untilUsable(2);
  // Only visitors who have not written recently are certain to read from replicas. On a fast machine, the visitors
  // above have always written recently.
  const before = await readFromReplicas();
  const reader = new Visitor(site.address, 'session-of-a-reader', PROCESSES + 1);
  await expect
    .poll(async () => {
      await reader.json('GET', '/api/upvotes?products=tide');
      return readFromReplicas();
    })
    .toBeGreaterThan(before);
  reader.close();
});

test('doctor reports whether replicas are up to date, lag, have stopped, were promoted or belong to another server', async () => {
  const [one, other] = servers.replicas as [TestServer, TestServer];
  const settings = { DATABASE_URL: servers.primary.url, DATABASE_REPLICA_URL: `${one.url},${other.url}` };
  const findReplicas = async (given = settings) => {
    const { stdout } = await runProgram(['doctor', '--json'], given);
    const findings: { check: string; status: string; message: string }[] = JSON.parse(stdout).findings;
    return findings.filter(({ check }) => check === 'replica').map(({ status, message }) => `${status}: ${message}`);
  };
  const current = [one, other].map(({ url }) => `ok: ${describeUrl(url)} is up to date`);
  await expect.poll(() => findReplicas()).toEqual(current);
  const moved = await createTestDatabase();
  // Doctor reports a server that does not respond within a second as unreachable.
  await expect
    .poll(async () => (await findReplicas({ ...settings, DATABASE_URL: moved.url }))[0])
    .toMatch(/^warning: the site cannot read from .*: The server is a replica of another server/);
  await moved.drop();
  await asAdmin(one.adminUrl, 'SELECT pg_wal_replay_pause()');
  await asAdmin(other.adminUrl, 'SELECT pg_promote()');
  await asAdmin(servers.primary.adminUrl, 'CREATE TABLE written_later ()');
  await expect
    .poll(() => findReplicas())
    .toEqual([
      expect.stringMatching(/^warning: .* lags by more than 5 seconds, so the site does not read from it$/),
      expect.stringMatching(/^warning: the site cannot read from .*: The server does not follow a primary/),
    ]);
  await one.stop();
  await expect
    .poll(async () => (await findReplicas())[0])
    .toMatch(/^warning: the site cannot read from .*: connect ECONNREFUSED/);
});
