import { afterAll, beforeAll, expect, test } from 'vitest';
import { openEvents } from '../support/event-client.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { startTestSite, type TestSite } from '../support/test-site.ts';

/** Two processes on one database, both with a response cache. */
let processes: TestSite[] = [];
beforeAll(async () => {
  const first = await startTestSite({ cacheEnabled: true });
  processes = [first, await startTestSite({ cacheEnabled: true, databaseOf: first })];
});
afterAll(async () => {
  for (const site of processes.reverse()) await site.close();
});

const SESSION = 'session-of-a-visitor';
const ADDRESSES = {
  page: '/product/night-tide',
  product: '/api/products/night-tide',
  comments: '/api/products/night-tide/comments',
  standing: '/api/products/night-tide/standing',
  badge: '/badge/night-tide.svg',
  card: '/og/night-tide.png',
  commentsFeed: '/product/night-tide/comments.xml',
  oembed: `/oembed?url=${encodeURIComponent('http://groundswell.test/product/night-tide')}`,
};
const LISTS = {
  home: '/',
  search: '/api/products?q=night',
  tag: '/api/products?tag=moonlight',
  top: '/api/products?sort=top',
  feed: '/feed.xml',
  jsonFeed: '/feed.json',
  sitemap: '/sitemap.xml',
};

async function statuses({ ask }: TestSite): Promise<Record<string, number>> {
  const entries = Object.entries(ADDRESSES).map(async ([name, url]) => [name, (await ask.get(url)).statusCode]);
  return Object.fromEntries(await Promise.all(entries));
}

async function mentions({ ask }: TestSite): Promise<string[]> {
  const found = await Promise.all(
    Object.entries(LISTS).map(async ([name, url]) => ((await ask.get(url)).body.includes('night-tide') ? [name] : [])),
  );
  return found.flat();
}

const all = <Value>(names: object, value: Value) => Object.fromEntries(Object.keys(names).map((name) => [name, value]));

test('a scheduled product is invisible until its launch, and then appears in every process without a write', async () => {
  const [first] = processes;
  if (first === undefined) throw new Error('There is no site');
  await first.addProduct({ id: 'day-tide', createdAt: new Date(Date.now() - 60_000).toISOString() });
  const url = await first.app.listen({ port: 0, host: '127.0.0.1' });
  const events = await openEvents(`${url}/api/events`);
  const schedule = (launchAt: number) =>
    first.addProduct({
      id: 'night-tide',
      name: 'Night tide',
      tags: ['moonlight'],
      createdAt: new Date(launchAt).toISOString(),
    });
  await schedule(Date.now() + 3_600_000);

  for (const site of processes) {
    expect(await statuses(site)).toEqual(all(ADDRESSES, 404));
    expect(await mentions(site)).toEqual([]);
    const { previousId } = await site.ask.json<{ previousId: string | null }>('/api/products/day-tide');
    expect(previousId).toBeNull();
  }
  const vote = await first.ask.put('/api/products/night-tide/upvote', { 'x-user-session': SESSION });
  expect(vote.statusCode).toBe(404);

  const launchInMs = 1_500;
  const launchesAt = performance.now() + launchInMs;
  await schedule(Date.now() + launchInMs);
  // Ignores the event about the edit, which precedes the launch.
  await expect
    .poll(() => events.frames.some(({ event, receivedAt }) => event === 'catalogue' && receivedAt >= launchesAt - 50))
    .toBe(true);
  for (const site of processes) {
    await expect.poll(() => statuses(site)).toEqual(all(ADDRESSES, 200));
    await expect.poll(() => mentions(site)).toEqual(Object.keys(LISTS));
    await expect
      .poll(async () => (await site.ask.json<{ previousId: string | null }>('/api/products/day-tide')).previousId)
      .toBe('night-tide');
  }
  events.close();
});

/**
 * Adds a product that launches in `leadMs`, and starts a process on the same database before the launch. If the process
 * was too slow, tries again with twice the time.
 */
async function startBeforeLaunch(first: TestSite, leadMs = 600) {
  const id = `at-restart-${leadMs}`;
  const launchesAt = Date.now() + leadMs;
  await first.addProduct({ id, createdAt: new Date(launchesAt).toISOString() });
  const second = await startTestSite({ cacheEnabled: true, databaseOf: first });
  const { statusCode } = await second.ask.get(`/product/${id}`);
  if (Date.now() < launchesAt) return { id, launchesAt, second, statusCode };
  await second.close();
  return startBeforeLaunch(first, 2 * leadMs);
}

test('a process that starts shortly before a launch shows the product once the launch is due, and not before', async () => {
  const first = await startTestSite({ cacheEnabled: true });
  const { id, launchesAt, second, statusCode } = await startBeforeLaunch(first);
  try {
    expect(statusCode).toBe(404);
    await expect.poll(async () => (await second.ask.get(`/product/${id}`)).statusCode).toBe(200);
    expect(Date.now()).toBeGreaterThanOrEqual(launchesAt);
    await expect.poll(async () => (await second.ask.get('/')).body).toContain(`/product/${id}"`);
    const day = new Date(launchesAt).toISOString().slice(0, 10);
    await expect.poll(async () => (await second.ask.get(`/api/leaderboards/${day}`)).body).toContain(`"${id}"`);
    const vote = await second.ask.put(`/api/products/${id}/upvote`, { 'x-user-session': SESSION });
    expect(vote.statusCode).toBe(200);
  } finally {
    await second.close();
    await first.close();
  }
});

test('a launch during downtime is added to its leaderboards once a process starts', async () => {
  const database = await createTestDatabase();
  const createdAt = new Date(Date.now() - 3_600_000).toISOString();
  try {
    await database.query("INSERT INTO products (id, created_at) VALUES ('overslept', $1)", [createdAt]);
    await database.query("INSERT INTO product_counts (product_id, window_from) VALUES ('overslept', $1)", [createdAt]);
    await database.query("INSERT INTO launches (product_id, launched_at) VALUES ('overslept', $1)", [createdAt]);
    const started = await startTestSite({ databaseOf: { database } });
    const board = `/api/leaderboards/${createdAt.slice(0, 10)}`;
    await expect.poll(async () => (await started.ask.get(board)).json().launches).toBe(1);
    await started.close();
  } finally {
    await database.drop();
  }
});
