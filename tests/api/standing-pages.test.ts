import { afterAll, beforeAll, expect, test } from 'vitest';
import { tieOrder } from '../../src/core/leaderboards/calendar.ts';
import { changeVerdicts, undoVerdicts } from '../../src/core/leaderboards/change-verdicts.ts';
import { lockDays } from '../../src/core/leaderboards/final-boards.ts';
import { systemRuntime } from '../../src/core/runtime.ts';
import { vote as castVote } from '../support/launch-site.ts';
import { startTestSite, type TestSite } from '../support/test-site.ts';

const createdAt = new Date().toISOString();
const orderToday = (id: string) => tieOrder(createdAt.slice(0, 10), id);
/** The ids of three tied products, in the order in which today's leaderboard lists them. */
const [second = '', third = '', fourth = ''] = ['ebb', 'flow', 'reef'].sort((a, b) =>
  orderToday(a) < orderToday(b) ? -1 : 1,
);
let site: TestSite;

beforeAll(async () => {
  site = await startTestSite({ cacheEnabled: true });
  await site.addProduct({ id: 'first', name: 'The first', createdAt });
  await site.addProduct({ id: second, name: 'The second', createdAt });
  await site.addProduct({ id: third, name: 'The third', createdAt });
  await site.addProduct({ id: fourth, name: 'The fourth', createdAt });
  await vote('first', 24);
  await vote(second, 23, () => '192.0.2.7');
  await vote(third, 20);
  await vote(fourth, 20);
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

async function standingOf(productId: string, on = site): Promise<string> {
  const { body } = await on.ask.get(`/product/${productId}`);
  return textOf(body, /<section class="standing"[\s\S]*?<\/section>/);
}

test('a product’s page shows its standing and the whole calculation without JavaScript', async () => {
  await expect.poll(() => standingOf(second)).toMatch(/^Tied 2nd of 4 on \d+ \w+ \d{4} , so far/);
  const words = await standingOf(second);
  for (const line of [
    'Why 2nd?',
    '20 of its 23 upvotes count, and 1 launch has more. The rank is shared.',
    'On the button 23',
    'At most 20 votes from one network count for a launch.',
    'Too many from one network − 3',
    'Counted votes 20',
    'The first 24 votes (4 more)',
    'The third 20 votes (as many)',
    'Equal counts share a rank.',
    'The whole leaderboard',
    'Every vote, in the open tally',
  ]) {
    expect(words).toContain(line);
  }
});

test('the calculation does not describe withdrawn votes as late, or late votes as missing', async () => {
  const { database } = site;
  const ago = (hours: number) => new Date(Date.now() - hours * 3_600_000).toISOString();
  const add = async (id: string, launchedAt: string) => {
    await site.addProduct({ id, createdAt: launchedAt });
    await expect.poll(() => site.core.getStandings(id)).not.toBeNull();
  };
  const voters = ['session-a', 'session-b', 'session-c'];
  for (const id of ['late-votes', 'withdrawn']) {
    await add(id, ago(30));
    for (const voter of voters) await castVote(database, id, ago(29), voter);
    await castVote(database, id, ago(1), 'session-a', { upvoted: false });
  }
  for (const voter of ['session-d', 'session-e', 'session-f']) await castVote(database, 'late-votes', ago(1), voter);
  await add('postponed', ago(3));
  await castVote(database, 'postponed', ago(2), 'session-a');
  await add('postponed', ago(1));
  await expect.poll(async () => (await site.core.getStandings('postponed'))?.day.votes).toBe(0);

  const explained = /Votes cast before or after it do not count; votes withdrawn after it still do\./;
  for (const [id, ...lines] of [
    [
      'late-votes',
      '3 votes count, and',
      'On the button 5 Outside the first 24 hours − 2',
      explained,
      'Counted votes 3',
    ],
    [
      'withdrawn',
      '3 votes count, and',
      'On the button 2 Withdrawn after the first 24 hours + 1',
      explained,
      'Counted votes 3',
    ],
    [
      'postponed',
      '0 of its 1 upvotes count',
      'On the button 1 Before the launch, or a moment ago − 1',
      'Counted votes 0',
    ],
  ] as const) {
    const words = await standingOf(id);
    for (const line of lines) expect(words).toMatch(line);
  }
});

test('the calculation refers to the operator’s reason for excluding votes only if visitors can read the moderation log', async () => {
  const withLog = await startTestSite({ databaseOf: site, hasModerationLog: true });
  try {
    const change = { productId: 'first', action: 'exclude', reason: 'bought', selection: {} } as const;
    await changeVerdicts(site.database, change, systemRuntime, undefined);
    const line = 'The tally shows which votes were excluded.';
    await expect.poll(() => standingOf('first')).toContain(line);
    expect(await standingOf('first')).not.toContain('reason');
    await expect.poll(() => standingOf('first', withLog)).toContain(`${line} The moderation log gives the reason.`);
    expect((await withLog.ask.get('/product/first')).body).toContain('<a href="/?log">The moderation log gives');
    await undoVerdicts(site.database, 'first', systemRuntime);
  } finally {
    await withLog.close();
  }
});

test('a product’s page shows the current votes of its neighbours on the leaderboard', async () => {
  const page = async () => (await site.ask.get(`/product/${second}`)).body;
  await vote(third, 22);
  await expect.poll(async () => textOf(await page(), /<ol class="why-neighbours"[\s\S]*?<\/ol>/)).toContain('22 votes');
});

test('a product’s page does not wait while a command has locked the leaderboards of its day, and shows its standing afterwards', async () => {
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
