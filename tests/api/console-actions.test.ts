import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import type {
  ConsoleComment,
  ConsolePage,
  OverviewRecord,
  ProductDetails,
  SubmissionRecord,
  VoteList,
} from '../../src/contract/console/records.ts';
import { CoreError } from '../../src/core/core-error.ts';
import { changeVerdicts } from '../../src/core/leaderboards/change-verdicts.ts';
import { placeLaunches } from '../../src/core/leaderboards/update-boards.ts';
import { systemRuntime } from '../../src/core/runtime.ts';
import { saveUpvoteBursts } from '../../src/core/stats/upvote-bursts.ts';
import { editSubmission, renewMakerKey } from '../../src/core/submissions/change-submission.ts';
import { createSubmission } from '../../src/core/submissions/create-submission.ts';
import { blockedStatements } from '../support/blocked-statements.ts';
import { addOperator, type TestOperator } from '../support/operator.ts';
import { startTestSite, type TestSite } from '../support/test-site.ts';
import { loseCommitResponseOnce } from '../support/unconfirmed-commit.ts';

let site: TestSite;
let ada: TestOperator;
let grace: TestOperator;

beforeAll(async () => {
  site = await startTestSite();
  ada = await addOperator(site);
  grace = await addOperator(site, 'grace');
});
afterAll(() => site.close());

async function addComment(productId: string, content: string, held = false): Promise<string> {
  const { comment } = await site.core.addComment(
    { productId, content, website: held ? 'spam.example' : '' },
    { session: `session-${randomUUID()}` },
  );
  // Waits for the next millisecond, because comments with equal times are listed in the order of their random ids.
  await vi.waitUntil(() => Date.now() > Date.parse(comment.createdAt), { interval: 1, timeout: 60_000 });
  return comment.id;
}

describe('Comments', () => {
  const list = async (query: string) =>
    (await ada.json<ConsolePage<ConsoleComment>>('GET', `/comments?${query}`)).items.map(({ content }) => content);

  test('can be searched by text, state and product, page by page', async () => {
    const { id } = await site.addProduct({ name: 'Tide' });
    for (const content of ['First wave', 'Second wave', 'Sand']) await addComment(id, content);
    await addComment(id, 'Held wave', true);
    expect(await list(`product=${id}`)).toEqual(['Held wave', 'Sand', 'Second wave', 'First wave']);
    expect(await list(`product=${id}&text=WAVE`)).toEqual(['Held wave', 'Second wave', 'First wave']);
    expect(await list(`product=${id}&state=held`)).toEqual(['Held wave']);
    const [held] = (await ada.json<ConsolePage<ConsoleComment>>('GET', `/comments?product=${id}&state=held`)).items;
    await ada.json('POST', '/comments/moderate', { action: 'hide', ids: [held?.id] });
    expect(await list(`product=${id}&state=held`)).toEqual([]);
    await ada.json('POST', '/comments/moderate', { action: 'restore', ids: [held?.id] });
    expect(await list(`product=${id}&state=public&text=wave`)).toEqual(['Second wave', 'First wave']);
    for (const text of ['', 'wave']) {
      const first = await ada.json<ConsolePage<ConsoleComment>>('GET', `/comments?product=${id}&text=${text}&limit=2`);
      expect(first.items).toHaveLength(2);
      expect(first.items[0]).toMatchObject({ productName: 'Tide', held: true, hidden: null });
      const rest = await list(`product=${id}&text=${text}&limit=2&cursor=${first.nextCursor}`);
      expect(rest).toEqual(text === '' ? ['Second wave', 'First wave'] : ['First wave']);
    }
    expect((await ada.ask('GET', '/comments?cursor=nonsense')).json()).toMatchObject({ code: 'bad_cursor' });
  });

  test('can be hidden or held; each change is in the audit log with its operator, and can be undone only once', async () => {
    const { id } = await site.addProduct();
    const comment = await addComment(id, 'A comment');
    const stateOf = async () => {
      const [found] = (await ada.json<ConsolePage<ConsoleComment>>('GET', `/comments?product=${id}`)).items;
      return { held: found?.held, hidden: found?.hidden?.reason };
    };
    const counted = async () => (await ada.json<ProductDetails>('GET', `/products/${id}`)).product.comments;
    for (const [action, after] of [
      ['hide', { held: false, hidden: 'Spam' }],
      ['hold', { held: true, hidden: undefined }],
    ] as const) {
      expect(
        await grace.json('POST', '/comments/moderate', { action, ids: [comment, randomUUID()], reason: 'Spam' }),
      ).toMatchObject({ done: [comment], skipped: [expect.any(String)] });
      expect(await stateOf()).toEqual(after);
      expect(await counted()).toBe(0);
      const entry = await ada.lastEntry();
      expect(entry).toMatchObject({ operator: 'grace', action: `comments ${action}`, undoable: true, undoneBy: null });
      expect((await ada.undo(entry)).statusCode).toBe(200);
      expect(await stateOf()).toEqual({ held: false, hidden: undefined });
      expect(await counted()).toBe(1);
      expect(await ada.lastEntry()).toMatchObject({ operator: 'ada', undoes: entry.id });
      expect((await ada.undo(entry)).json()).toMatchObject({ status: 409, code: 'not_undoable' });
      // The undo has its own audit entry, which can be undone as well.
      expect((await ada.undo(await ada.lastEntry())).statusCode).toBe(200);
      expect(await stateOf()).toEqual(after);
      await ada.undo(await ada.lastEntry());
    }
  });
});

describe('Votes', () => {
  test('of a burst can be excluded with a reason that is not blank, and an undo counts them again', async () => {
    const { id } = await site.addProduct({ createdAt: new Date().toISOString() });
    await placeLaunches(site.database, { now: new Date(), timeZone: 'UTC', reviewHours: 24 });
    const hour = new Date(Math.floor(Date.now() / 3_600_000) * 3_600_000).toISOString();
    for (let index = 0; index < 3; index += 1)
      await site.core.setUpvote({ productId: id, session: `session-${randomUUID()}`, upvoted: true });
    await saveUpvoteBursts(site.database, [{ hour, productId: id, network: 'one', sessions: 25 }]);
    const { items } = await ada.json<ConsolePage<{ productId: string }>>('GET', '/bursts');
    expect(items).toContainEqual(expect.objectContaining({ productId: id, sessions: 25 }));
    const to = new Date(Date.parse(hour) + 2 * 3_600_000).toISOString();
    const inBurst = await ada.json<VoteList>('GET', `/products/${id}/votes?from=${hour}&to=${to}`);
    expect(inBurst).toMatchObject({ votes: [{}, {}, {}] });
    const voters = inBurst.votes.map(({ voter }) => voter);
    for (const invalid of [{ reason: 'No voters' }, { reason: '\u200b', voters }]) {
      const refused = await ada.ask('POST', `/products/${id}/votes`, { action: 'exclude', ...invalid });
      expect(refused.statusCode).toBe(400);
    }
    const excluded = await ada.json('POST', `/products/${id}/votes`, { action: 'exclude', reason: 'A burst', voters });
    expect(excluded).toMatchObject({ votes: 3, auditId: (await ada.lastEntry()).id });
    expect(await ada.json('GET', `/products/${id}/votes`)).toMatchObject({
      votes: [{ counted: false, reason: 'operator' }, {}, {}],
    });
    expect(await ada.json('GET', `/products/${id}/votes?from=${to}`)).toMatchObject({ votes: [] });
    expect((await ada.undo(await ada.lastEntry())).statusCode).toBe(200);
    expect(await ada.json('GET', `/products/${id}/votes`)).toMatchObject({ votes: [{ counted: true }, {}, {}] });
  });

  test('can be counted again even if another operator has since repeated the exclusion, which changed nothing', async () => {
    const { id } = await site.addProduct({ createdAt: new Date().toISOString() });
    await placeLaunches(site.database, { now: new Date(), timeZone: 'UTC', reviewHours: 24 });
    await site.core.setUpvote({ productId: id, session: `session-${randomUUID()}`, upvoted: true });
    const { votes } = await ada.json<VoteList>('GET', `/products/${id}/votes`);
    const change = { action: 'exclude', reason: 'A burst', voters: votes.map(({ voter }) => voter) };
    expect(await ada.json('POST', `/products/${id}/votes`, change)).toMatchObject({ votes: 1 });
    const entry = await ada.lastEntry();
    expect(await grace.json('POST', `/products/${id}/votes`, change)).toMatchObject({ votes: 0, auditId: null });
    expect((await ada.undo(entry)).statusCode).toBe(200);
    expect(await ada.json('GET', `/products/${id}/votes`)).toMatchObject({ votes: [{ counted: true }] });
  });

  test('can be excluded and counted again by the thousand, and audit entries do not list their voters', async () => {
    const { id } = await site.addProduct({ createdAt: new Date().toISOString() });
    await placeLaunches(site.database, { now: new Date(), timeZone: 'UTC', reviewHours: 24 });
    await site.database.query(
      `INSERT INTO upvotes (id, product_id, user_session, created_at)
       SELECT gen_random_uuid(), $1, 'session-' || n, clock_timestamp() FROM generate_series(1, 3000) AS n`,
      [id],
    );
    const change = { productId: id, action: 'exclude', reason: 'A burst', selection: {} } as const;
    expect(await changeVerdicts(site.database, change, systemRuntime, undefined)).toMatchObject({ votes: 3_000 });
    expect((await ada.undo(await ada.lastEntry())).json()).toEqual({ note: null });
    const page = await ada.ask('GET', `/audit?target=${id}`);
    expect(page.json().items).toMatchObject([{ details: { votes: 3_000 } }, { details: { votes: 3_000 } }]);
    expect(page.body.length).toBeLessThan(2_000);
    expect((await ada.json<VoteList>('GET', `/products/${id}/votes`)).votes[0]).toMatchObject({ counted: true });
  });
});

describe('Submissions', () => {
  const waiting = async () => (await ada.json<ConsolePage<SubmissionRecord>>('GET', '/submissions')).items;
  const decide = (operator: TestOperator, { id, revision }: SubmissionRecord, decision: object) =>
    operator.ask('POST', `/submissions/${id}/decide`, { revision, ...decision });

  async function submit(name: string): Promise<SubmissionRecord> {
    const submitter = { session: `session-${randomUUID()}`, networkPrefix: undefined, idempotencyKey: undefined };
    const { row } = await createSubmission(site.database, systemRuntime, { name }, { submitter, suspectedSpam: false });
    return (await waiting()).find(({ id }) => id === row.id) as SubmissionRecord;
  }

  test('can be approved only once, launch immediately, and are waiting again after an undo', async () => {
    const submission = await submit('Approved product');
    expect((await decide(ada, submission, { action: 'approve' })).json()).toMatchObject({
      submission: { status: 'launched' },
    });
    const again = await decide(grace, submission, { action: 'approve' });
    expect(again.json()).toMatchObject({ status: 409, code: 'submission_changed', current: { status: 'launched' } });
    expect((await ada.undo(await ada.lastEntry())).statusCode).toBe(200);
    expect((await waiting()).map(({ id }) => id)).toContain(submission.id);
  });

  test('can be declined but not approved after an edit by the maker, and cannot be declined after another decision', async () => {
    const edit = async ({ id }: SubmissionRecord, description: string) =>
      editSubmission(
        site.database,
        { id, makerKey: await renewMakerKey(site.database, id) },
        { description },
        { now: new Date(), timeZone: 'UTC' },
      );
    const earlier = await submit('Edited');
    await decide(grace, earlier, { action: 'decline', reason: 'Too early' });
    // Simulates that 30 days have passed, after which the id is free again. The database's clock dates decisions, and
    // the site's clock, which may lag behind it, dates submissions.
    await site.database.query("UPDATE audit_log SET created_at = created_at - interval '30 days' WHERE target = $1", [
      earlier.id,
    ]);
    await site.database.query('DELETE FROM submissions WHERE id = $1', [earlier.id]);
    const [edited, approved] = [await submit('Edited'), await submit('Approved meanwhile')];
    expect(edited.id).toBe(earlier.id);
    const resubmitted = await submit('Declined and resubmitted meanwhile');
    for (const each of [edited, approved]) await edit(each, 'Another text');
    expect((await decide(ada, edited, { action: 'approve' })).json()).toMatchObject({ code: 'submission_changed' });
    const decline = { action: 'decline', reason: 'Not a tech product' };
    expect((await decide(ada, edited, decline)).json()).toMatchObject({ submission: { status: 'declined' } });
    await decide(grace, { ...approved, revision: approved.revision + 1 }, { action: 'approve' });
    expect((await decide(ada, approved, decline)).json()).toMatchObject({
      code: 'submission_changed',
      current: { status: 'launched' },
    });
    await decide(grace, resubmitted, decline);
    await edit(resubmitted, 'A better text');
    expect((await decide(ada, resubmitted, decline)).json()).toMatchObject({
      code: 'submission_changed',
      current: { status: 'waiting' },
    });
  });

  test('keep a decision that another operator makes while an earlier one is being undone', async () => {
    const launchAt = new Date(Date.now() + 3_600_000).toISOString();
    const scheduled = await decide(ada, await submit('Contested'), { action: 'schedule', launchAt });
    const { submission }: { submission: SubmissionRecord } = scheduled.json();
    const entry = await ada.lastEntry();
    const untilBlocked = (statements: number) =>
      vi.waitFor(async () => expect(await blockedStatements(site.database)).toHaveLength(statements), 60_000);
    const requests = await site.database.transaction(async (sql) => {
      await sql.query('SELECT FROM submissions WHERE id = $1 FOR UPDATE', [submission.id]);
      const decline = decide(grace, submission, { action: 'decline', reason: 'Not a tech product' });
      await untilBlocked(1);
      const undo = ada.undo(entry);
      await untilBlocked(2);
      return { decline, undo };
    });
    expect((await requests.decline).json()).toMatchObject({ submission: { status: 'declined' } });
    expect((await requests.undo).json()).toMatchObject({ code: 'not_undoable' });
    expect(await ada.lastEntry()).toMatchObject({ action: 'submissions decline', undoneBy: null });
  });

  test('are reported as decided even if the connection is lost after the commit', async () => {
    const submission = await submit('Just decided');
    const { query } = site.database;
    const spy = vi.spyOn(site.database, 'query').mockImplementation((text, ...rest) => {
      const isRead = text === 'SELECT * FROM submissions WHERE id = $1';
      return isRead ? Promise.reject(new CoreError('unavailable', 'Connection lost')) : query(text, ...rest);
    });
    onTestFinished(() => spy.mockRestore());
    const decided = await decide(ada, submission, { action: 'approve' });
    expect(decided.json()).toMatchObject({ submission: { status: 'launched' }, auditId: (await ada.lastEntry()).id });
  });

  test('can be declined with a reason, or scheduled', async () => {
    const [declined, scheduled] = [await submit('Declined'), await submit('Scheduled')];
    for (const reason of ['', ' \n', '\u200b'])
      expect((await decide(ada, declined, { action: 'decline', reason })).statusCode).toBe(400);
    const reason = 'Not a tech product';
    expect((await decide(ada, declined, { action: 'decline', reason })).json()).toMatchObject({
      submission: { status: 'declined', reason, canUndo: true },
    });
    const launchAt = new Date(Date.now() + 3_600_000).toISOString();
    expect((await decide(ada, scheduled, { action: 'schedule', launchAt })).json()).toMatchObject({
      submission: { status: 'scheduled', launchAt },
    });
  });
});

test('a change gets 504 if the database does not confirm the commit, because the change may have been made', async () => {
  const { id } = await site.addProduct();
  const comment = await addComment(id, 'A comment');
  loseCommitResponseOnce(site.database);
  const hidden = await ada.ask('POST', '/comments/moderate', { action: 'hide', ids: [comment] });
  expect(hidden.statusCode).toBe(504);
  expect(hidden.json()).toMatchObject({ status: 504, code: 'unavailable' });
  expect(await ada.lastEntry()).toMatchObject({ action: 'comments hide' });
});

test('the overview has the counts of waiting items and the activity, and /doctor has the findings of the doctor command', async () => {
  const { id } = await site.addProduct({ name: 'Counted', createdAt: new Date().toISOString() });
  await addComment(id, 'Held', true);
  const overview = await ada.json<OverviewRecord>('GET', '/overview');
  expect(overview.days).toHaveLength(30);
  expect(overview.hours).toHaveLength(48);
  // Checks two hours, because the hour of the launch may have ended.
  expect(overview.hours.slice(-2).some(({ launches }) => launches > 0)).toBe(true);
  expect(overview.waiting.heldComments).toBeGreaterThan(0);
  expect(overview.boards.map(({ kind }) => kind)).toEqual(['day', 'week', 'month', 'year']);
  expect(overview.database.products).toBeGreaterThan(0);
  expect(await ada.json('GET', '/doctor')).toEqual({
    findings: [{ check: 'database', status: 'ok', message: 'it responds' }],
  });
});
