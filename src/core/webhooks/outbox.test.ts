import { Check } from 'typebox/value';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { buildProduct } from '../../../tests/support/build-product.ts';
import { rulesAt, vote } from '../../../tests/support/launch-site.ts';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts';
import { type WebhookEvent, WebhookEventSchema } from '../../contract/webhooks/schema.ts';
import { createCore } from '../core.ts';
import { changeVerdicts, undoVerdicts } from '../leaderboards/change-verdicts.ts';
import { finalizeDue } from '../leaderboards/finalize.ts';
import { placeLaunches } from '../leaderboards/update-boards.ts';
import { saveProducts } from '../products/save-products.ts';
import { systemRuntime } from '../runtime.ts';
import { createSubmission } from '../submissions/create-submission.ts';
import {
  deleteOldEvents,
  listEvents,
  readWebhookStatus,
  receiverOf,
  recordDelivery,
  recordEvents,
  recordFailure,
  retryEvents,
} from './outbox.ts';

const LAUNCH = '2026-06-01T10:00:00.000Z';
const FINAL = '2026-06-04T00:00:00.000Z';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());
beforeEach(async () => {
  for (const table of ['products', 'leaderboards', 'leaderboard_counts', 'webhook_events'])
    await database.query(`DELETE FROM ${table}`);
});

/** Reads all events in the outbox, ordered by type, and checks them against their schema. */
async function recorded(): Promise<WebhookEvent[]> {
  const rows = await database.query<{ type: string; body: string }>(
    'SELECT type, body FROM webhook_events ORDER BY type, body',
  );
  return rows.map(({ type, body }) => {
    const event: unknown = JSON.parse(body);
    if (!Check(WebhookEventSchema, event)) throw new Error(`not an event: ${body}`);
    expect(event.type).toBe(type);
    return event;
  });
}

const add = (id: string, createdAt: string) => saveProducts(database, [buildProduct({ id, name: id, createdAt })]);
const place = (now: string, { silently = false } = {}) =>
  placeLaunches(database, rulesAt(now), silently ? undefined : recordEvents);
const runtimeAt = (now: string) => ({ ...systemRuntime, now: () => new Date(now) });

describe('product.launched', () => {
  test('a scheduled launch is reported once, at its time', async () => {
    await add('tide', LAUNCH);
    await place('2026-06-01T09:59:59.999Z');
    expect(await recorded()).toEqual([]);
    await Promise.all([place(LAUNCH), place(LAUNCH), place(LAUNCH)]);
    await place('2026-06-01T11:00:00.000Z');
    const { maker, category, tags } = buildProduct({ id: 'tide', name: 'tide', createdAt: LAUNCH });
    expect(await recorded()).toEqual([
      { type: 'product.launched', timestamp: LAUNCH, data: { productId: 'tide', name: 'tide', maker, category, tags } },
    ]);
  });

  test('correcting a past launch time sends no second event, but moving the launch into the future does', async () => {
    await add('tide', LAUNCH);
    await place('2026-06-01T10:30:00.000Z');
    await add('tide', '2026-06-01T09:00:00.000Z');
    await place('2026-06-01T10:40:00.000Z');
    expect(await recorded()).toHaveLength(1);
    await add('tide', '2026-06-01T12:00:00.000Z');
    await place('2026-06-01T11:00:00.000Z');
    expect(await recorded()).toHaveLength(1);
    await place('2026-06-01T12:00:00.000Z');
    expect((await recorded()).map(({ timestamp }) => timestamp)).toEqual([LAUNCH, '2026-06-01T12:00:00.000Z']);
  });

  test('a launch during downtime is reported late, unless its window has ended', async () => {
    await add('tide', LAUNCH);
    await add('ebb', '2026-05-20T10:00:00.000Z');
    await place('2026-06-02T09:00:00.000Z');
    expect((await recorded()).map((event) => 'productId' in event.data && event.data.productId)).toEqual(['tide']);
  });
});

describe('comment.held', () => {
  const core = () => createCore(database, { recordEvents });
  const sender = { session: 'session-of-a-spammer' };

  test('a held comment is reported once, without its text and session', async () => {
    await add('tide', LAUNCH);
    const draft = { productId: 'tide', content: 'Casino', website: 'spam.example' };
    const { comment } = await core().addComment(draft, { ...sender, idempotencyKey: 'key-1' });
    await core().addComment(draft, { ...sender, idempotencyKey: 'key-1' });
    await core().addComment({ productId: 'tide', content: 'Nice' }, sender);
    expect(await recorded()).toEqual([
      { type: 'comment.held', timestamp: comment.createdAt, data: { commentId: comment.id, productId: 'tide' } },
    ]);
  });

  test('a comment that cannot be reported is not written', async () => {
    await add('tide', LAUNCH);
    const broken = createCore(database, { recordEvents: () => Promise.reject(new Error('the disk is full')) });
    const draft = { productId: 'tide', content: 'Casino', website: 'spam.example' };
    await expect(broken.addComment(draft, sender)).rejects.toThrow('the disk is full');
    expect(await database.query('SELECT FROM comments')).toEqual([]);
  });
});

test('a submission is reported once, without its text', async () => {
  const create = () =>
    createSubmission(
      database,
      runtimeAt(LAUNCH),
      { name: 'A secret', description: 'Nobody may know yet' },
      { submitter: { session: 'session-of-a-maker', idempotencyKey: 'key-1' }, recordEvents },
    );
  const { row } = await create();
  await create();
  expect(await recorded()).toEqual([{ type: 'submission.created', timestamp: LAUNCH, data: { submissionId: row.id } }]);
});

describe('votes.excluded and leaderboard.final', () => {
  test('an exclusion is reported with its number of votes; an inclusion and an undo are not', async () => {
    await add('tide', LAUNCH);
    await place(LAUNCH, { silently: true });
    for (const voter of ['a', 'b', 'c']) await vote(database, 'tide', '2026-06-01T11:00:00.000Z', `session-${voter}`);
    const change = (action: 'exclude' | 'include') =>
      changeVerdicts(
        database,
        { productId: 'tide', action, reason: 'a private remark', selection: { from: new Date(LAUNCH) } },
        runtimeAt('2026-06-01T12:00:00.000Z'),
        recordEvents,
      );
    const changes = [await change('exclude'), await change('exclude'), await change('include')];
    expect(changes.map(({ votes }) => votes)).toEqual([3, 0, 3]);
    // The undo of the inclusion excludes the votes again.
    expect(await undoVerdicts(database, 'tide', systemRuntime)).toMatchObject({ votes: 3 });
    expect(await recorded()).toEqual([
      {
        type: 'votes.excluded',
        timestamp: '2026-06-01T12:00:00.000Z',
        data: { productId: 'tide', day: '2026-06-01', reason: 'operator', votes: 3 },
      },
    ]);
  });

  test('each period that becomes final is reported once, with its winners', async () => {
    await add('tide', LAUNCH);
    await add('ebb', LAUNCH);
    await place(LAUNCH, { silently: true });
    await vote(database, 'tide', '2026-06-01T11:00:00.000Z', 'session-a');
    const finalize = (now: string) => finalizeDue(database, { rules: rulesAt(now), votesPerNetwork: 20, recordEvents });
    await finalize(FINAL);
    await finalize(FINAL);
    const [day, ...others] = await recorded();
    expect(others).toEqual([]);
    expect(day).toEqual({
      type: 'leaderboard.final',
      timestamp: FINAL,
      data: {
        period: '2026-06-01',
        kind: 'day',
        from: '2026-06-01T00:00:00.000Z',
        to: '2026-06-02T00:00:00.000Z',
        revision: 0,
        digest: expect.stringMatching(/^sha256:/),
        launches: 2,
        winners: [{ productId: 'tide', name: 'tide', votes: 1 }],
      },
    });
    for (const now of ['2026-06-11', '2026-07-04', '2027-01-04']) await finalize(`${now}T00:00:00.000Z`);
    const finals = await recorded();
    expect(finals.map(({ data }) => 'kind' in data && data.kind).sort()).toEqual(['day', 'month', 'week', 'year']);
  });

  test.each([
    ['is reported within 37 days', '2026-07-10', 1],
    ['is not reported after more than 37 days', '2026-07-12', 0],
  ])('a result that becomes final later than it was due %s', async (_what, date, count) => {
    await add('tide', LAUNCH);
    const now = `${date}T00:00:00.000Z`;
    await place(now, { silently: true });
    const { days } = await finalizeDue(database, { rules: rulesAt(now), votesPerNetwork: 20, recordEvents });
    expect(days).toEqual(['2026-06-01']);
    const kinds = (await recorded()).flatMap(({ data }) => ('kind' in data ? data.kind : []));
    expect(kinds.filter((kind) => kind === 'day')).toHaveLength(count);
  });
});

test('events are deleted after seven days or, if they are retried later, when they expire', async () => {
  await add('tide', LAUNCH);
  await place(LAUNCH);
  const weekLater = Date.now() + 7 * 24 * 3_600_000;
  const deleteAt = (ms: number) => deleteOldEvents(database, new Date(ms));
  await deleteAt(weekLater - 60_000);
  expect(await recorded()).toHaveLength(1);
  await retryEvents(database, receiverOf({ url: 'https://receiver.example' }), new Date(weekLater - 60_000));
  await deleteAt(weekLater + 23 * 3_600_000);
  expect(await recorded()).toHaveLength(1);
  await deleteAt(weekLater + 24 * 3_600_000);
  expect(await recorded()).toEqual([]);
});

test('a failure that a suspended sender records after another has delivered the event does not mark the receiver as failing', async () => {
  await add('tide', LAUNCH);
  await place(LAUNCH);
  const [{ id = '' } = {}] = await listEvents(database, { limit: 1 });
  const receiver = receiverOf({ url: 'https://receiver.example' });
  const now = new Date();
  const failed = { id, failure: 'no response', nextAttemptAt: now, isGone: false };
  await recordDelivery(database, receiver, id, now);
  expect(await recordFailure(database, receiver, failed, now)).toBeUndefined();
  expect(await readWebhookStatus(database, receiver)).toMatchObject({ failingSince: null, lastFailure: null });
  await recordFailure(database, receiver, { ...failed, isGone: true }, now);
  expect(await readWebhookStatus(database, receiver)).toMatchObject({ goneAt: now });
});

test('no event is recorded without a receiver', async () => {
  await add('tide', LAUNCH);
  await place(LAUNCH, { silently: true });
  const core = createCore(database);
  await core.addComment({ productId: 'tide', content: 'Casino', website: 'spam.example' }, { session: 'session-a' });
  await finalizeDue(database, { rules: rulesAt(FINAL), votesPerNetwork: 20 });
  expect(await recorded()).toEqual([]);
});
