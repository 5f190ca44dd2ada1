import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hideComments } from '../../src/core/comments/moderate-comments.ts';
import { removeProducts } from '../../src/core/products/remove-products.ts';
import { saveProducts } from '../../src/core/products/save-products.ts';
import { DAY_MS, HOUR_MS } from '../../src/core/runtime.ts';
import { readStats, type SiteStats } from '../../src/core/stats/read-stats.ts';
import { deleteOldBursts, listUpvoteBursts, saveUpvoteBursts } from '../../src/core/stats/upvote-bursts.ts';
import { buildProduct } from '../support/build-product.ts';
import { jsonOf, runProgram } from '../support/program.ts';
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts';

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

let year = 2030;

/** Returns a time later than all rows of earlier tests, so only the rows of the current test are counted. */
function newTime(): Date {
  year += 1;
  return new Date(Date.UTC(year, 5, 15, 10, 30));
}

const earlier = (moment: Date, ms: number) => new Date(moment.getTime() - ms);

async function addProduct(createdAt: Date, name = 'Product'): Promise<string> {
  const product = buildProduct({ id: `p-${randomUUID()}`, name, createdAt: createdAt.toISOString() });
  await saveProducts(database, [product]);
  return product.id;
}

async function addUpvotes(productId: string, at: Date, count: number): Promise<void> {
  await database.query(
    `WITH added AS (
       INSERT INTO upvotes (id, product_id, user_session, created_at)
       SELECT gen_random_uuid(), $1, 'session-' || gen_random_uuid(), $2::timestamptz FROM generate_series(1, $3::integer)
     ) UPDATE product_counts SET upvotes = upvotes + $3 WHERE product_id = $1`,
    [productId, at.toISOString(), count],
  );
}

async function addComment(productId: string, at: Date, heldSession: string | null = null): Promise<string> {
  const id = randomUUID();
  await database.query(
    `WITH added AS (
       INSERT INTO comments (id, product_id, content, created_at, held_session) VALUES ($1, $2, 'x', $3::timestamptz, $4)
     ) UPDATE product_counts SET comments = comments + 1 WHERE product_id = $2 AND $4 IS NULL`,
    [id, productId, at.toISOString(), heldSession],
  );
  return id;
}

const stats = (now: Date, days = 3): Promise<SiteStats> => readStats(database, { days, now });

describe('the statistics of a day', () => {
  test('a day includes its first and last millisecond in UTC, and no time before or after', async () => {
    const now = newTime();
    const today = new Date(now.toISOString().slice(0, 10));
    const first = earlier(today, 2 * DAY_MS);
    const id = await addProduct(first);
    await addProduct(earlier(first, 1));
    for (const at of [first, earlier(today, DAY_MS + 1), earlier(today, DAY_MS), earlier(today, 1), today, now])
      await addUpvotes(id, at, 1);
    await addUpvotes(id, earlier(first, 1), 5);
    await addUpvotes(id, new Date(today.getTime() + DAY_MS), 5);
    await addComment(id, now);
    // This product has not launched yet.
    await addProduct(new Date(now.getTime() + 1));
    const { days } = await stats(now);
    const dayOf = (moment: Date) => moment.toISOString().slice(0, 10);
    expect(days).toEqual([
      { day: dayOf(first), launches: 1, upvotes: 2, comments: 0 },
      { day: dayOf(earlier(today, DAY_MS)), launches: 0, upvotes: 2, comments: 0 },
      { day: dayOf(today), launches: 0, upvotes: 2, comments: 1 },
    ]);
  });

  test('held and hidden comments, and upvotes and comments of removed products, are not counted', async () => {
    const now = newTime();
    const [id, gone] = [await addProduct(now), await addProduct(now)];
    await addComment(id, now);
    await addComment(id, now, 'session-a');
    await hideComments(database, [await addComment(id, now)]);
    await addUpvotes(gone, now, 3);
    await addComment(gone, now);
    await removeProducts(database, [gone]);
    expect((await stats(now, 1)).days).toMatchObject([{ launches: 1, upvotes: 0, comments: 1 }]);
    expect((await stats(now, 1)).top).toEqual([]);
  });
});

describe('highlights', () => {
  test('the top ten products are those with the most upvotes in the selected days', async () => {
    const now = newTime();
    const ids: string[] = [];
    for (let index = 1; index <= 11; index += 1) {
      const id = await addProduct(earlier(now, 50 * DAY_MS), `Number ${index}`);
      await addUpvotes(id, now, index);
      await addUpvotes(id, earlier(now, 10 * DAY_MS), 100 - index);
      ids.push(id);
    }
    const { top } = await stats(now);
    expect(top.map(({ productId }) => productId)).toEqual(ids.slice(1).toReversed());
    expect(top[0]).toEqual({ productId: ids[10], productName: 'Number 11', upvotes: 11 });
  });

  test('an hour with many times a product’s average upvotes is listed, unless it has few upvotes', async () => {
    const now = newTime();
    const [burst, steady, small] = [await addProduct(now), await addProduct(now), await addProduct(now)];
    const hour = earlier(now, 30 * 60_000);
    await addUpvotes(burst, now, 60);
    await addUpvotes(burst, hour, 20);
    // The steady product gets the same number of upvotes each hour, so no hour is far above its average.
    for (let index = 0; index < 24; index += 1)
      await addUpvotes(steady, new Date(hour.getTime() + (index - 10) * HOUR_MS), 60);
    await addUpvotes(small, now, 49);
    const { hours } = await stats(now, 1);
    expect(hours).toEqual([{ productId: burst, productName: 'Product', hour: hour.toISOString(), upvotes: 80 }]);
  });

  test('early in the day, hours with as many upvotes as the others are not listed', async () => {
    const now = new Date(newTime().setUTCHours(2, 0, 0, 0));
    const id = await addProduct(earlier(now, DAY_MS));
    for (const hoursAgo of [1, 2]) await addUpvotes(id, earlier(now, hoursAgo * HOUR_MS), 60);
    const { top, hours } = await stats(now, 1);
    expect([top[0]?.upvotes, hours]).toEqual([120, []]);
  });

  test('bursts of upvotes are recorded once per hour and network, listed largest first, and deleted after a week', async () => {
    const now = new Date();
    const hour = new Date(Math.floor(now.getTime() / HOUR_MS) * HOUR_MS).toISOString();
    const id = await addProduct(earlier(now, 900 * DAY_MS), 'Tide');
    const old = earlier(new Date(hour), 6.9 * DAY_MS)
      .toISOString()
      .slice(0, 13);
    await saveUpvoteBursts(database, [{ hour, productId: id, network: 'AAAA', sessions: 20 }]);
    await saveUpvoteBursts(database, [
      { hour, productId: id, network: 'AAAA', sessions: 30 },
      { hour, productId: id, network: 'BBBB', sessions: 40 },
      { hour: `${old}:00:00.000Z`, productId: id, network: 'CCCC', sessions: 25 },
      { hour, productId: 'no-such-product', network: 'AAAA', sessions: 99 },
    ]);
    const list = async (since = earlier(now, 60 * DAY_MS)) =>
      (await listUpvoteBursts(database, { since, limit: 9 })).map(({ network, sessions }) => [network, sessions]);
    expect(await list()).toEqual([
      ['BBBB', 40],
      ['AAAA', 30],
      ['CCCC', 25],
    ]);
    expect(await list(earlier(now, DAY_MS))).toEqual([
      ['BBBB', 40],
      ['AAAA', 30],
    ]);
    await deleteOldBursts(database, new Date(now.getTime() + DAY_MS));
    expect(await list()).toEqual([
      ['BBBB', 40],
      ['AAAA', 30],
    ]);
    await deleteOldBursts(database, new Date(now.getTime() + 8 * DAY_MS));
    expect(await database.query('SELECT 1 FROM upvote_bursts')).toEqual([]);
  });
});

describe('the stats command', () => {
  const run = (...parameters: string[]) => runProgram(['stats', ...parameters], { DATABASE_URL: database.url });

  test('prints every day as JSON, oldest first, and fourteen days by default', async () => {
    const settings = { DATABASE_URL: database.url };
    const now = new Date();
    const { days } = await jsonOf<SiteStats>(['stats'], settings);
    expect(days).toHaveLength(14);
    expect(days.map(({ day }) => day)).toEqual(days.map(({ day }) => day).toSorted());
    expect([now.toISOString().slice(0, 10), new Date().toISOString().slice(0, 10)]).toContain(days.at(-1)?.day);
    expect((await jsonOf<SiteStats>(['stats', '--days', '1'], settings)).days).toHaveLength(1);
    expect((await jsonOf<SiteStats>(['stats', '--days', '90'], settings)).days).toHaveLength(90);
  });

  test('prints tables and sparklines, whose layout no name can break', async () => {
    const now = new Date();
    const quiet = await run('--days', '2');
    expect(quiet.stdout).toContain('No product was upvoted.');
    expect(quiet.stdout).toContain('No unusual hours.');
    expect(quiet.stdout).toContain('No unusual networks.');

    const id = await addProduct(now, 'Evil\u001b[2J\u202e');
    await addUpvotes(id, now, 1_234);
    const hour = new Date(Math.floor(now.getTime() / HOUR_MS) * HOUR_MS).toISOString();
    await saveUpvoteBursts(database, [{ hour, productId: id, network: 'a+/b1234', sessions: 321 }]);
    const { code, stdout, stderr } = await run('--days', '2');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const time = hour.slice(0, 16).replace('T', ' ');
    const name = 'Evil\\\\u\\{1b\\}\\[2J\\\\u\\{202e\\}';
    expect(stdout).toMatch(/^DAY \(UTC\) +LAUNCHES +UPVOTES +COMMENTS$/m);
    expect(stdout).toMatch(/^\d{4}-\d\d-\d\d +1 +1,234 +0$/m);
    expect(stdout).toMatch(/^Total +1 +1,234 +0$/m);
    expect(stdout).toMatch(/^upvotes {3}[ █]█?$/m);
    expect(stdout).toMatch(new RegExp(`^ +1,234 +${id} +${name}$`, 'm'));
    expect(stdout).toMatch(new RegExp(`^${time} +1,234 +${id} +${name}$`, 'm'));
    expect(stdout).toMatch(new RegExp(`^${time} +321 +a\\+/b1234 +${id} +${name}$`, 'm'));
  });

  test.each([[['--days', '0']], [['--days', '91']], [['--days', 'week']], [['--nonsense']], [['something']]])(
    '%j is refused with exit code 2',
    async (flags) => {
      expect(await run(...flags)).toMatchObject({ code: 2, stdout: '' });
    },
  );
});
