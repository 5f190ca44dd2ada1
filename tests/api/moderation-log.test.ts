import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { AddedComment } from '../../src/contract/comments/schema.ts';
import type { ModerationEntry, ModerationLog } from '../../src/contract/moderation/schema.ts';
import type { NewSubmission } from '../../src/contract/submissions/schema.ts';
import {
  hideComments,
  holdComments,
  releaseComments,
  restoreComments,
} from '../../src/core/comments/moderate-comments.ts';
import { changeVerdicts, undoVerdicts } from '../../src/core/leaderboards/change-verdicts.ts';
import { removeProducts } from '../../src/core/products/remove-products.ts';
import { restoreProducts } from '../../src/core/products/restore-products.ts';
import { systemRuntime } from '../../src/core/runtime.ts';
import { createSubmission } from '../../src/core/submissions/create-submission.ts';
import { approveSubmission, declineSubmission, undoDecision } from '../../src/core/submissions/decide-submission.ts';
import { launch, vote } from '../support/launch-site.ts';
import { addOperator } from '../support/operator.ts';
import { newVisitor } from '../support/requests.ts';
import { startTestSite, type TestSite } from '../support/test-site.ts';

let site: TestSite;
/** Another process on the same database. */
let other: TestSite;
beforeAll(async () => {
  site = await startTestSite({ hasModerationLog: true, cacheEnabled: true });
  other = await startTestSite({ hasModerationLog: true, cacheEnabled: true, databaseOf: site });
});
afterAll(async () => {
  await other.close();
  await site.close();
});

const LOG = '/api/moderation-log';
const read = (path = LOG, from = site) => from.ask.json<ModerationLog>(path);
const newest = async (from = site): Promise<ModerationEntry | undefined> => (await read(LOG, from)).items[0];
const page = async (path = '/?log') => (await site.ask.get(path)).body;
const textOf = (html: string) => html.replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ');
const soon = (from = site) => expect.poll(() => newest(from), { interval: 20 });
const rules = () => ({ now: new Date(), timeZone: 'UTC' });

async function newComment(productId: string, content: string): Promise<string> {
  const response = await site.ask.post('/api/comments', { productId, content }, newVisitor());
  return response.json<AddedComment>().comment.id;
}

/** Launches a product with votes at 10 and 20 seconds. @returns a function that changes those before `end` seconds. */
async function launchWithVotes(productId: string) {
  const start = Date.now() - 60_000;
  const after = (seconds: number) => new Date(start + seconds * 1_000);
  await launch(site.database, productId, after(0).toISOString(), after(60).toISOString());
  for (const at of [10, 20]) await vote(site.database, productId, after(at).toISOString(), `session-${at}`);
  return (action: 'exclude' | 'include', reason: string, end = 60) => {
    const change = { productId, action, reason, selection: { to: after(end) } };
    return changeVerdicts(site.database, change, systemRuntime, undefined);
  };
}

/** Submits a product. @returns its id. */
async function submit(fields: Partial<NewSubmission> = {}): Promise<string> {
  const sent = { name: 'Secret project', description: 'Nobody knows yet', ...fields };
  const submitter = { session: 'session-of-a-maker' };
  return (await createSubmission(site.database, systemRuntime, sent, { submitter })).row.id;
}

/** Declines a submission. @returns its id. */
async function declineSecretProject(): Promise<string> {
  const id = await submit();
  await declineSubmission(site.database, { id }, 'not a product', rules());
  return id;
}

describe('an entry of the moderation log', () => {
  test('has the reason for hiding a comment in every process, and is marked as undone once the comment is restored', async () => {
    await site.addProduct({ id: 'git', name: 'Git' });
    const id = await newComment('git', 'Cheap watches here');
    await read();
    await read(LOG, other);
    await hideComments(site.database, [id], 'advertising');
    const hidden = {
      action: 'comment.hidden',
      productId: 'git',
      productName: 'Git',
      votes: null,
      reason: 'advertising',
      undoneAt: null,
    };
    await soon().toMatchObject(hidden);
    await soon(other).toMatchObject(hidden);
    await restoreComments(site.database, [id]);
    await soon().toMatchObject({ ...hidden, undoneAt: expect.stringMatching(/Z$/) });
    await hideComments(site.database, [id]);
    await soon().toMatchObject({ ...hidden, reason: null });
    expect((await read()).items[1]).toMatchObject({ reason: 'advertising', undoneAt: expect.any(String) });
  });

  test('has the action comment.hidden for a public comment that is held, and is marked as undone once it is released', async () => {
    await site.addProduct({ id: 'reef', name: 'Reef' });
    const id = await newComment('reef', 'Odd words');
    await holdComments(site.database, [id]);
    const held = { action: 'comment.hidden', productId: 'reef', reason: null };
    await soon().toMatchObject({ ...held, undoneAt: null });
    await releaseComments(site.database, [id]);
    await soon().toMatchObject({ ...held, undoneAt: expect.any(String) });
  });

  test('has the id of a removed product, and its name only once the product is restored', async () => {
    await site.addProduct({ id: 'casino', name: 'Buy my slurs' });
    await removeProducts(site.database, ['casino'], 'spam');
    const removed = {
      action: 'product.removed',
      productId: 'casino',
      productName: null,
      reason: 'spam',
      undoneAt: null,
    };
    await soon().toMatchObject(removed);
    expect(await page()).not.toContain('slurs');
    await site.addProduct({ id: 'casino', name: 'A museum' });
    await removeProducts(site.database, ['casino']);
    await restoreProducts(site.database, { productIds: ['casino'] });
    await soon().toMatchObject({ productId: 'casino', productName: 'A museum', undoneAt: expect.any(String) });
    expect((await read()).items[1]).toMatchObject({ reason: 'spam', productName: null, undoneAt: null });
  });

  test('does not exist for the removal of a product that has not launched, even if the product is restored', async () => {
    const createdAt = new Date(Date.now() + 3_600_000).toISOString();
    await site.addProduct({ id: 'secret-plan', name: 'Secret plan', createdAt });
    await removeProducts(site.database, ['secret-plan'], 'Wrong date');
    await restoreProducts(site.database, { productIds: ['secret-plan'] });
    // A newer public entry invalidates the cached log. Once the log shows that entry, it would also show a secret one.
    await site.addProduct({ id: 'public-plan' });
    await removeProducts(site.database, ['public-plan']);
    await soon().toMatchObject({ productId: 'public-plan' });
    expect((await read()).items.map(({ productId, reason }) => [productId, reason])).not.toContainEqual([
      'secret-plan',
      'Wrong date',
    ]);
    expect(await page()).not.toContain('secret-plan');
  });

  test('exists for a launched product that undoing an import removes, and is marked as undone once it is restored', async () => {
    const ada = await addOperator(site);
    const file = `id,createdAt\nimported,\nimported-plan,${new Date(Date.now() + 3_600_000).toISOString()}\n`;
    const headers = { 'content-type': 'application/octet-stream' };
    await ada.ask('POST', '/import?name=launches.csv&kind=csv', Buffer.from(file), headers);
    await ada.undo(await ada.lastEntry());
    const removed = {
      action: 'product.removed',
      productId: 'imported',
      productName: null,
      reason: 'Import undone',
      undoneAt: null,
    };
    await soon().toMatchObject(removed);
    expect((await read()).items.filter(({ reason }) => reason === 'Import undone')).toEqual([
      expect.objectContaining(removed),
    ]);
    await restoreProducts(site.database, { productIds: ['imported', 'imported-plan'] });
    await soon().toMatchObject({ productId: 'imported', undoneAt: expect.any(String) });
  });

  test('exists for a launched product that undoing its approval removes, but not for a scheduled or a removed one', async () => {
    const scheduled = await submit({ name: 'Scheduled', launchAt: new Date(Date.now() + 3_600_000).toISOString() });
    const removed = await submit({ name: 'Removed' });
    const launched = await submit({ name: 'Launched' });
    for (const id of [scheduled, removed, launched]) await approveSubmission(site.database, { id }, rules());
    await removeProducts(site.database, [removed], 'spam');
    for (const id of [scheduled, removed, launched]) await undoDecision(site.database, { id }, rules());
    const entry = { action: 'product.removed', productName: null, undoneAt: null };
    await soon().toMatchObject({ ...entry, productId: launched, reason: null });
    expect((await read()).items[1]).toMatchObject({ ...entry, productId: removed, reason: 'spam' });
  });

  test('has the number of excluded votes without the voters, and is marked as undone once the votes are included', async () => {
    const change = await launchWithVotes('tide');
    await change('exclude', 'a burst');
    const excluded = { action: 'votes.excluded', productId: 'tide', votes: 2, reason: 'a burst', undoneAt: null };
    await soon().toMatchObject(excluded);
    // A repeated command finds no further votes to exclude, so it adds no entry.
    await change('exclude', 'a burst');
    expect((await read()).items.filter(({ action }) => action === 'votes.excluded')).toHaveLength(1);
    await undoVerdicts(site.database, 'tide', systemRuntime);
    await soon().toMatchObject({ ...excluded, undoneAt: expect.any(String) });
  });

  test('has the number of included votes, and is marked as undone once the inclusion is undone', async () => {
    const change = await launchWithVotes('ebb');
    await change('exclude', 'a burst');
    await change('include', 'a shared network', 15);
    await change('include', 'again', 15);
    const included = { action: 'votes.included', productId: 'ebb', votes: 1, reason: 'a shared network' };
    await soon().toMatchObject({ ...included, undoneAt: null });
    expect((await read()).items[1]).toMatchObject({ action: 'votes.excluded', votes: 2, undoneAt: null });
    await undoVerdicts(site.database, 'ebb', systemRuntime);
    await soon().toMatchObject({ ...included, undoneAt: expect.any(String) });
  });

  test('has only the reason for declining a submission, and is marked as undone once the decision is undone', async () => {
    const id = await declineSecretProject();
    const declined = { action: 'submission.declined', productId: null, reason: 'not a product', undoneAt: null };
    await soon().toMatchObject(declined);
    expect(JSON.stringify(await read())).not.toMatch(/secret/i);
    await undoDecision(site.database, { id }, rules());
    await soon().toMatchObject({ ...declined, undoneAt: expect.any(String) });
  });
});

describe('the page of the moderation log', () => {
  beforeAll(async () => {
    await site.addProduct({ id: 'wave', name: 'Wave' });
    await hideComments(site.database, [await newComment('wave', 'Cheap watches here')]);
    await site.addProduct({ id: 'slots', name: 'Buy my slurs' });
    await removeProducts(site.database, ['slots'], 'spam');
    const change = await launchWithVotes('swell');
    await change('exclude', 'a burst');
    await change('include', 'a shared network', 15);
    await undoDecision(site.database, { id: await declineSecretProject() }, rules());
    // The cached log may be up to three seconds old.
    await vi.waitUntil(async () => {
      const [declined, , , removed] = (await read()).items;
      return declined?.undoneAt && removed?.productId === 'slots';
    }, 60_000);
  });

  test('describes each entry, links existing products, and does not load the app', async () => {
    const newestFirst = [
      'Submission declined not a product [^U]*UTC · Undone [^U]*UTC',
      '1 vote included for Product \\d+ a shared network',
      '2 votes excluded for Product \\d+ a burst',
      'Product removed: slots spam',
      'Comment hidden on Wave No reason was given\\.',
    ];
    // The cached page may be up to three seconds old.
    await expect.poll(async () => textOf(await page())).toMatch(new RegExp(newestFirst.join('.*')));
    const html = await page();
    expect(html).toContain('<a href="/product/wave" dir="auto">Wave</a>');
    expect(html).not.toContain('href="/product/slots" dir="auto">slots');
    expect(html).not.toMatch(/data-app|id="state"|Cheap watches|slurs|Secret/);
  });

  test('is paged like the API, and redirects to its beginning for an invalid cursor', async () => {
    const ids = new Set<string>();
    let path: string | undefined = `${LOG}?limit=2`;
    while (path !== undefined) {
      const { items, nextCursor }: ModerationLog = await read(path);
      for (const { id } of items) ids.add(id);
      path = nextCursor === null ? undefined : `${LOG}?limit=2&cursor=${nextCursor}`;
    }
    const all = (await read()).items;
    expect([...ids]).toEqual(all.map(({ id }) => id));
    const { nextCursor } = await read(`${LOG}?limit=1`);
    const later = textOf(await page(`/?log&cursor=${nextCursor}`));
    expect(later).toContain('Newest entries');
    expect((await site.ask.get('/?log&cursor=made-up')).headers.location).toBe('/?log');
    expect((await site.ask.get(`${LOG}?cursor=made-up`)).statusCode).toBe(400);
  });

  test('is linked from the list and from products, and is cached like other pages', async () => {
    expect(await page('/')).toContain('<a href="/?log">Moderation log</a>');
    expect(await page('/product/wave')).toContain('<a href="/?log">Moderation log</a>');
    const { headers } = await site.ask.get('/?log');
    expect((await site.ask.get('/?log', { 'if-none-match': String(headers.etag) })).statusCode).toBe(304);
  });

  test('returns 503 with an error text if the log cannot be read', async () => {
    const broken = await startTestSite({ hasModerationLog: true });
    await broken.database.query('ALTER TABLE audit_log RENAME TO gone');
    const response = await broken.ask.get('/?log');
    expect(response.statusCode).toBe(503);
    expect(response.body).toContain('The log could not be loaded');
    await broken.close();
  });
});

test('reasons are shown as plain text', async () => {
  await site.addProduct({ id: 'script', name: 'Script' });
  await removeProducts(site.database, ['script'], '<script>alert(1)</script>');
  await soon().toMatchObject({ productId: 'script' });
  await expect.poll(page).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
});

test('without a public moderation log, its endpoint returns 404, its page is the list, and no page mentions it', async () => {
  const plain = await startTestSite();
  const [api, unknown] = [await plain.ask.get(LOG), await plain.ask.get('/api/no-such-path')];
  expect(api.statusCode).toBe(404);
  expect(api.json().code).toBe(unknown.json().code);
  const list = await plain.ask.get('/?log');
  expect(list.statusCode).toBe(200);
  expect(list.body).toContain('Top Products Launching Today');
  expect((await plain.ask.get('/')).body).not.toMatch(/moderation/i);
  expect((await plain.ask.get('/api/openapi.json')).body).not.toMatch(/moderation-log/);
  await plain.close();
});
