import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { SESSION_HEADER } from '../../src/contract/api.ts';
import * as paths from '../../src/contract/paths.ts';
import { HOUR_MS } from '../../src/core/runtime.ts';
import { startTestSite, type TestSite } from '../support/test-site.ts';

const startedAt = Date.now();
const inHours = (hours: number) => new Date(startedAt + hours * HOUR_MS).toISOString();
const SOON = inHours(3);
const boardOfSoon = SOON.slice(0, 10);

/** How far the database's clock is ahead of this machine's. */
const databaseClock = { offsetMs: 0 };
let site: TestSite;
beforeAll(async () => {
  site = await startTestSite({ databaseClock, cacheEnabled: true });
  await site.addProduct({ id: 'running', createdAt: inHours(-1) });
  await site.addProduct({ id: 'soon', name: 'Soon to launch', createdAt: SOON });
});
afterAll(() => site.close());

async function vote(productId: string, session: string): Promise<number> {
  const headers = { [SESSION_HEADER]: `session-${session}` };
  return (await site.app.inject({ method: 'PUT', url: paths.api.upvote(productId), headers })).statusCode;
}

async function numbersOf(productId: string): Promise<{ votes: number; upvotes: number } | undefined> {
  const { day } = (await site.ask.get(paths.api.standings(productId))).json();
  return day && { votes: day.votes, upvotes: day.upvotes };
}

/** Returns the URLs whose responses show the scheduled launch, and 'product' if its page does. */
async function traces(): Promise<string[]> {
  const addresses = [paths.home, paths.board(boardOfSoon), paths.api.leaderboard(boardOfSoon), paths.api.leaderboards];
  const bodies = await Promise.all([...addresses, paths.product('soon')].map((url) => site.ask.get(url)));
  return [...addresses, 'product'].filter((_, index) => {
    const { statusCode, body } = bodies[index] ?? { statusCode: 404, body: '' };
    return statusCode === 200 && (body.includes('Soon to launch') || body.includes('"soon"'));
  });
}

test('launches and vote counting follow the database’s clock when it jumps ahead and when it is set back', async () => {
  expect(await vote('running', 'before')).toBe(200);
  await expect.poll(() => numbersOf('running')).toEqual({ votes: 1, upvotes: 1 });
  expect(await traces()).toEqual([]);

  databaseClock.offsetMs = 30 * HOUR_MS;
  await expect
    .poll(traces)
    .toEqual(expect.arrayContaining([paths.board(boardOfSoon), paths.api.leaderboard(boardOfSoon), 'product']));
  expect(await vote('running', 'meanwhile')).toBe(200);
  expect(await vote('soon', 'meanwhile')).toBe(200);
  await expect.poll(() => numbersOf('running')).toEqual({ votes: 1, upvotes: 2 });

  databaseClock.offsetMs = 0;
  await expect.poll(traces).toEqual([]);
  expect(await vote('soon', 'after')).toBe(404);
  expect(await vote('running', 'after')).toBe(200);
  await expect.poll(() => numbersOf('running')).toEqual({ votes: 2, upvotes: 3 });

  databaseClock.offsetMs = 4 * HOUR_MS;
  await expect.poll(traces).toEqual(expect.arrayContaining([paths.board(boardOfSoon), 'product']));
});

test('a process whose own clock jumps serves pages and counts votes as before', async () => {
  databaseClock.offsetMs = 0;
  await expect.poll(traces).toEqual([]);
  const before = await numbersOf('running');
  vi.useFakeTimers({ toFake: ['Date'], now: startedAt + 40 * HOUR_MS });
  try {
    expect(await vote('running', 'other-clock')).toBe(200);
    await expect
      .poll(() => numbersOf('running'))
      .toEqual({
        votes: (before?.votes ?? 0) + 1,
        upvotes: (before?.upvotes ?? 0) + 1,
      });
    expect(await traces()).toEqual([]);
    const page = await site.ask.get('/?q=rendered-only-now');
    expect(Number(/"renderedAt":(\d+)/.exec(page.body)?.[1])).toBeLessThan(startedAt + 20 * HOUR_MS);
  } finally {
    vi.useRealTimers();
  }
});
