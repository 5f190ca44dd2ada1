import { expect, test } from 'vitest';
import type { ReadApi } from '../../contract/api.ts';
import type { Leaderboard } from '../../contract/leaderboards/schema.ts';
import * as paths from '../../contract/paths.ts';
import { leaderboardsFeed } from './feeds.ts';

const DAYS = ['2026-10-31', '2026-10-30', '2026-10-29'];

function boardOf(period: string): Leaderboard {
  return {
    period,
    kind: 'day',
    finalAt: '2026-11-02T00:00:00.000Z',
    revisedAt: null,
    digest: `sha256:${period}`,
    launches: 1,
    items: [{ rank: 1, productId: 'tide', name: 'Tide', votes: 3 }],
  } as unknown as Leaderboard;
}

test('the feed has an entry for each day, and reads the leaderboards one by one', async () => {
  let isReading = false;
  const api = {
    async getLeaderboard(period: string) {
      expect(isReading).toBe(false);
      isReading = true;
      await Promise.resolve();
      isReading = false;
      return boardOf(period);
    },
  } as unknown as ReadApi;
  const site = { name: 'Groundswell', url: () => 'https://groundswell.test' } as never;
  const feed = await leaderboardsFeed(site, api, DAYS);
  const urls = DAYS.map((day) => `https://groundswell.test${paths.board(day)}`);
  // The first id is that of the feed.
  expect([...feed.matchAll(/<id>([^<]+)<\/id>/g)].map(([, id]) => id).slice(1)).toEqual(urls);
});
