import { expect, test } from 'vitest';
import type { ReadApi } from '../../contract/api.ts';
import type { Leaderboard } from '../../contract/leaderboards/schema.ts';
import * as paths from '../../contract/paths.ts';
import { DAY_MS } from '../../core/runtime.ts';
import { leaderboardsFeed } from './feeds.ts';

const NOW = Date.parse('2026-11-01T00:00:00.000Z');

/** Returns daily leaderboards, newest first, each of which becomes final after a review of `reviewHours`. */
function boardsWith(reviewHours: number): Leaderboard[] {
  return Array.from({ length: 100 }, (_, daysAgo) => {
    const to = NOW - daysAgo * DAY_MS;
    const finalAt = to + DAY_MS + reviewHours * 60 * 60 * 1_000;
    return {
      period: new Date(to - DAY_MS).toISOString().slice(0, 10),
      status: finalAt <= NOW ? 'final' : 'provisional',
      finalAt: new Date(finalAt).toISOString(),
      revisedAt: null,
      digest: `sha256:${daysAgo}`,
      launches: 1,
      items: [{ rank: 1, productId: 'tide', name: 'Tide', votes: 3 }],
    } as unknown as Leaderboard;
  });
}

test.each([0, 24, 720])(
  'with a review of %i hours, the feed reads the last 50 final days one by one',
  async (hours) => {
    const boards = boardsWith(hours);
    let isReading = false;
    const api = {
      listLeaderboards: async ({ limit }: { limit: number }) => ({ items: boards.slice(0, limit), nextCursor: null }),
      async getLeaderboard(period: string) {
        expect(isReading).toBe(false);
        isReading = true;
        await Promise.resolve();
        isReading = false;
        return boards.find((board) => board.period === period);
      },
    } as unknown as ReadApi;
    const feed = await leaderboardsFeed({ name: 'Groundswell', url: () => 'https://groundswell.test' } as never, api);
    const final = boards.filter(({ status }) => status === 'final').slice(0, 50);
    const urls = final.map(({ period }) => `https://groundswell.test${paths.board(period)}`);
    expect(urls).toHaveLength(50);
    // The first id is that of the feed.
    expect([...feed.matchAll(/<id>([^<]+)<\/id>/g)].map(([, id]) => id).slice(1)).toEqual(urls);
  },
);
