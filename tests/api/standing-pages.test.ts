import { afterAll, beforeAll, expect, test } from 'vitest';
import { tieOrder } from '../../src/core/leaderboards/calendar.ts';
import { lockDays } from '../../src/core/leaderboards/final-boards.ts';
import { startTestSite, type TestSite } from '../support/test-site.ts';

const createdAt = new Date().toISOString();
const orderToday = (id: string) => tieOrder(createdAt.slice(0, 10), id);
/** The ids of two tied products, in the order in which today's leaderboard lists them. */
const [second = '', third = ''] = ['ebb', 'flow'].sort((a, b) => (orderToday(a) < orderToday(b) ? -1 : 1));
let site: TestSite;

beforeAll(async () => {
  site = await startTestSite({ cacheEnabled: true });
});

afterAll(() => site.close());

async function vote(productId: string, count: number, from = (index: number) => `192.0.2.${index + 1}`): Promise<void> {
  for (let index = 0; index < count; index += 1) {
    await site.app.inject({
      method: 'PUT',
      url: `/api/products/${productId}/upvote`,
      headers: { 'x-user-session': `session-of-voter-${index}` },
      remoteAddress: from(index),
    });
  }
}

/** Returns the text of a part of a page, as a visitor without JavaScript reads it. */
function textOf(html: string, part: RegExp): string {
  const [found = ''] = part.exec(html) ?? [];
  return found
    .replaceAll(/<[^>]+>/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/(?<=\() | (?=\))/g, '')
    .trim();
}

async function standingOf(productId: string): Promise<string> {
  const { body } = await site.ask.get(`/product/${productId}`);
  return textOf(body, /<section class="standing"[\s\S]*?<\/section>/);
}

test('a product’s page shows its standing and the whole calculation without JavaScript', async () => {
  await site.addProduct({ id: 'first', name: 'The first', createdAt });
  await site.addProduct({ id: second, name: 'The second', createdAt });
  await site.addProduct({ id: third, name: 'The third', createdAt });
  await vote('first', 24);
  await vote(second, 23, () => '192.0.2.7');
  await vote(third, 20);
  await expect.poll(() => standingOf(second)).toMatch(/^Tied 2nd of 3 on \d+ \w+ \d{4} , so far/);
  const words = await standingOf(second);
  for (const line of [
    'Why 2nd?',
    '20 of its 23 upvotes count, and 1 launch has more. Another launch has as many.',
    'On the button 23',
    'At most 20 votes from one network count for a launch.',
    'Too many from one network − 3',
    'Votes that count 20',
    'The first 24 votes (4 more)',
    'The third 20 votes (as many)',
    'Equal counts share a rank.',
    'The whole leaderboard',
    'Every vote, in the open tally',
  ]) {
    expect(words).toContain(line);
  }
});

test('a product’s page shows the current votes of its neighbours on the leaderboard', async () => {
  const page = async () => (await site.ask.get(`/product/${second}`)).body;
  await vote(third, 22);
  await expect.poll(async () => textOf(await page(), /<ol class="why-neighbours"[\s\S]*?<\/ol>/)).toContain('22 votes');
});

test('a product’s page does not wait while a command has locked its day, and shows its standing afterwards', async () => {
  await site.addProduct({ id: 'early', createdAt });
  await expect.poll(() => site.core.getStandings('early')).not.toBeNull();
  await site.database.transaction(async (sql) => {
    await lockDays(sql, [createdAt.slice(0, 10)]);
    await site.addProduct({ id: 'late', name: 'The late', createdAt });
    const { body } = await site.ask.get('/product/late');
    expect(body).toContain('The late');
    expect(body).not.toContain('class="standing"');
  });
  await expect.poll(() => standingOf('late')).toContain('so far');
});
