import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import type { Leaderboard, LeaderboardSummary } from '../../src/contract/leaderboards/schema.ts';
import { LIMITS } from '../../src/contract/limits.ts';
import type { Product } from '../../src/contract/products/schema.ts';
import { refreshLaunches } from '../../src/core/leaderboards/launch-votes.ts';
import { saveProducts } from '../../src/core/products/save-products.ts';
import { buildProduct } from '../support/build-product.ts';
import { launch, vote } from '../support/launch-site.ts';
import { jsonOf, runProgram } from '../support/program.ts';
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts';

// The launches are one minute old, so their launch windows are open.
const now = new Date();
const LAUNCH = new Date(now.getTime() - 60_000).toISOString();
const DAY = LAUNCH.slice(0, 10);
const VOTES = { tide: ['a', 'b', 'c'], reef: ['a', 'b'] };

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
  for (const [id, sessions] of Object.entries(VOTES)) {
    await launch(database, id, LAUNCH, now.toISOString());
    for (const session of sessions) await vote(database, id, now.toISOString(), `session-voter-${session}`);
  }
  await refreshLaunches(database, Object.keys(VOTES));
});
afterAll(() => database.drop());

const settings = () => ({ DATABASE_URL: database.url });
const run = (...parameters: string[]) => runProgram(parameters, settings());
const json = <Result>(...parameters: string[]) => jsonOf<Result>(parameters, settings());
const ranks = async () =>
  (await json<Leaderboard>('leaderboards', 'show', DAY)).items.map(({ productId, votes, excluded }) => [
    productId,
    votes,
    excluded,
  ]);

interface Votes {
  votes: { voter: string; reason: string | null }[];
}

test('leaderboards list prints the periods that have launches, with their winners', async () => {
  const { leaderboards } = await json<{ leaderboards: LeaderboardSummary[] }>('leaderboards', 'list', '--kind', 'year');
  expect(leaderboards).toMatchObject([{ period: DAY.slice(0, 4), status: 'open', launches: 2 }]);
  const { stdout } = await run('leaderboards', 'list');
  expect(stdout).toContain('tide (3)');
});

test('leaderboards show prints the ranks, and refuses an invalid period or one without a leaderboard', async () => {
  expect(await ranks()).toEqual([
    ['tide', 3, 0],
    ['reef', 2, 0],
  ]);
  expect((await run('leaderboards', 'show', DAY)).stdout).toMatch(new RegExp(`^${DAY}: 2 launches, open`));
  expect(await run('leaderboards', 'show', '2026-02-30')).toMatchObject({ code: 2 });
  expect(await run('leaderboards', 'show', '1999')).toMatchObject({ code: 1 });
});

test("leaderboards, statistics and invitations follow the database's clock even if this machine's is three days ahead", async () => {
  const ahead = now.getTime() + 3 * 86_400_000;
  vi.useFakeTimers({ toFake: ['Date'], now: ahead });
  onTestFinished(() => void vi.useRealTimers());
  expect(await json('leaderboards', 'show', DAY)).toMatchObject({ status: 'open' });
  expect(await json('leaderboards', 'list')).toMatchObject({ leaderboards: [{ period: DAY, status: 'open' }] });
  const { days } = await json<{ days: { day: string }[] }>('stats', '--days', '1');
  const { expiresAt } = await json<{ expiresAt: string }>('console', 'invite', 'ada');
  for (const time of [days[0]?.day, expiresAt]) expect(Date.parse(time ?? '')).toBeLessThan(ahead - 86_400_000);
});

test('votes exclude removes votes from the leaderboard, include restores votes, undo reverts the last change, and the log has the reasons', async () => {
  const { votes } = await json<Votes>('votes', 'list', 'tide');
  expect(votes).toHaveLength(3);
  const voters = votes.slice(0, 2).map(({ voter }) => voter);
  const exclude = ['votes', 'exclude', 'tide', '--voter', ...voters];
  expect(await run(...exclude), 'a reason is needed').toMatchObject({ code: 2 });
  expect(await run('votes', 'exclude', 'tide', '--reason', 'all of them')).toMatchObject({ code: 2 });

  expect(await run(...exclude, '--reason', 'bought votes')).toMatchObject({ code: 0 });
  expect(await ranks()).toEqual([
    ['reef', 2, 0],
    ['tide', 1, 2],
  ]);
  const { stdout: repeated } = await run(...exclude, '--reason', 'a repetition');
  expect(repeated).toBe('tide has no counted votes that match.\n');
  expect(
    await run('votes', 'include', 'tide', '--voter', ...voters.slice(0, 1), '--reason', 'a mistake'),
  ).toMatchObject({
    code: 0,
  });
  expect(await ranks()).toContainEqual(['tide', 2, 1]);
  expect(await run('votes', 'undo', 'tide')).toMatchObject({ code: 0 });
  expect(await ranks()).toContainEqual(['tide', 1, 2]);
  expect(await run('votes', 'undo', 'tide')).toMatchObject({ code: 0 });
  expect(await ranks()).toEqual([
    ['tide', 3, 0],
    ['reef', 2, 0],
  ]);
  const { stdout } = await run('log');
  expect(stdout).toContain('bought votes');
  expect(stdout).toContain('a mistake');
  expect(stdout).not.toContain('a repetition');
  expect(stdout).not.toContain('session-voter');
});

test('leaderboards check exits 0 if everything agrees with the votes, and otherwise names the differences and exits 1; --repair corrects the order of ties', async () => {
  for (const period of [DAY, DAY.slice(0, 7), DAY.slice(0, 4)]) {
    expect(await run('leaderboards', 'check', period)).toMatchObject({
      code: 0,
      stdout: `${period}: 2 launches, 5 counted votes: everything agrees.\n`,
    });
  }
  await database.query("UPDATE product_counts SET counted = 7 WHERE product_id = 'reef'");
  const checked = await run('leaderboards', 'check', DAY);
  expect(checked).toMatchObject({ code: 1, stdout: expect.stringContaining('reef') });
  await database.query("UPDATE product_counts SET counted = 2 WHERE product_id = 'reef'");
  await database.query("UPDATE launches SET day_order = gen_random_uuid() WHERE product_id = 'reef'");
  const disordered = expect.stringMatching(/^reef: order among ties: recounted \S+, stored \S+\n/);
  expect(await run('leaderboards', 'check', DAY)).toMatchObject({ code: 1, stdout: disordered });
  expect(await run('leaderboards', 'check', DAY, '--repair')).toMatchObject({ code: 0, stdout: disordered });
});

test('leaderboards check finds no difference in a final day without launches, and refuses a day before the first launch', async () => {
  await launch(database, 'older', '2020-06-01T10:00:00.000Z', now.toISOString());
  for (const options of [[], ['--repair']]) {
    expect(await run('leaderboards', 'check', '2020-06-05', ...options)).toMatchObject({
      code: 0,
      stdout: '2020-06-05: 0 launches, 0 counted votes: everything agrees.\n',
    });
  }
  expect(await run('leaderboards', 'check', '2020-05-05')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('there is no leaderboard for 2020-05-05'),
  });
});

test('leaderboards check reports that a leaderboard with launches is missing, and counts the launches beyond one page', async () => {
  const createdAt = '2020-06-07T10:00:00.000Z';
  const launches = LIMITS.pageSize.default + 1;
  const others = Array.from({ length: launches - 1 }, (_, n) => buildProduct({ id: `astray-${n}`, createdAt }));
  await saveProducts(database, others);
  await launch(database, 'astray', createdAt, now.toISOString());
  await database.query("DELETE FROM leaderboards WHERE period = '2020-06-07'");
  expect(await run('leaderboards', 'check', '2020-06-07')).toMatchObject({
    code: 1,
    stdout: `the leaderboard of 2020-06-07 is missing, although the period has launches\n2020-06-07: ${launches} launches, 0 counted votes: 1 difference.\n`,
  });
});

test('products list --scheduled lists future launches, earliest first', async () => {
  const inDays = (days: number) => new Date(now.getTime() + days * 86_400_000).toISOString();
  await saveProducts(database, [
    buildProduct({ id: 'later', createdAt: inDays(2) }),
    buildProduct({ id: 'next', createdAt: inDays(1) }),
  ]);
  const { products } = await json<{ products: Product[] }>('products', 'list', '--scheduled');
  expect(products.map(({ id }) => id)).toEqual(['next', 'later']);
  expect((await run('products', 'list', '--scheduled')).stdout).toContain('LAUNCHES (UTC)');
});
