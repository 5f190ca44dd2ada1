import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { finalizeDue } from '../../src/core/leaderboards/finalize.ts';
import { removeProducts } from '../../src/core/products/remove-products.ts';
import { expectProblem } from '../support/expect-problem.ts';
import { createLogLines } from '../support/log-lines.ts';
import { startTestSite, type TestSite } from '../support/test-site.ts';

/** The level of warnings in the log. A 503, such as just after a day's first launch, is logged at a lower level. */
const WARN = 40;

const logLines = createLogLines();
let site: TestSite;
const now = new Date();
const day = now.toISOString().slice(0, 10);
const tallyPath = `/api/leaderboards/${day}/tally`;

beforeAll(async () => {
  site = await startTestSite({ cacheEnabled: true, log: logLines.log });
  await site.addProduct({ id: 'tide', createdAt: now.toISOString() });
});
afterAll(() => site.close());

const vote = (session: string) =>
  site.app.inject({
    method: 'PUT',
    url: '/api/products/tide/upvote',
    headers: { 'x-user-session': session },
  });

test('an open tally lists the votes so far, with an ETag that changes with them', async () => {
  await expect.poll(async () => (await site.app.inject(tallyPath)).body).toContain('"id":"tide"');
  const before = await site.app.inject(tallyPath);
  expect(before.headers).toMatchObject({
    'content-type': 'application/jsonl; charset=utf-8',
    'cache-control': 'public, no-cache, no-transform',
    etag: expect.stringMatching(/^"open-[0-9a-f]{64}"$/),
  });
  expect(before.headers['content-encoding']).toBeUndefined();
  const etag = before.headers.etag;
  const known = await site.app.inject({ url: tallyPath, headers: { 'if-none-match': String(etag) } });
  expect([known.statusCode, known.body, known.headers.etag]).toEqual([304, '', etag]);
  await vote('session-of-tally-1');
  const after = await site.app.inject({ url: tallyPath, headers: { 'if-none-match': String(etag) } });
  expect(after.statusCode).toBe(200);
  const [header, line] = after.body.trimEnd().split('\n');
  expect(JSON.parse(header ?? '')).toMatchObject({ tally: 1, period: day, status: 'open', revision: 0 });
  expect(JSON.parse(line ?? '')).toEqual({
    product: 'tide',
    voter: expect.stringMatching(/^[0-9a-f]{32}$/),
    at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
    counted: true,
    reason: null,
  });
  expect(after.body).not.toContain('session-of-tally-1');
});

test('the ETag changes if a new product with the same id replaces a removed one', async () => {
  const voted = async (session: string) => {
    await vote(session);
    await expect
      .poll(async () => (await site.app.inject(tallyPath)).body)
      .toMatch(/"id":"tide"[\s\S]*"product":"tide"/);
    return site.app.inject(tallyPath);
  };
  const before = await voted('session-of-tally-1');
  await removeProducts(site.database, ['tide']);
  await site.addProduct({ id: 'tide', createdAt: now.toISOString() });
  const after = await voted('session-of-tally-2');
  expect(after.body).not.toBe(before.body);
  expect(after.headers.etag).not.toBe(before.headers.etag);
});

test('HEAD has the headers of GET and no body', async () => {
  const get = await site.app.inject(tallyPath);
  const head = await site.app.inject({ method: 'HEAD', url: tallyPath });
  expect([head.statusCode, head.body]).toEqual([200, '']);
  for (const name of ['etag', 'content-type', 'cache-control']) expect(head.headers[name]).toBe(get.headers[name]);
  expect(head.headers['content-length']).toBeUndefined();
});

test('only days that can have a leaderboard have a tally', async () => {
  expectProblem(await site.app.inject(`/api/leaderboards/${day.slice(0, 7)}/tally`), 400, 'bad_period');
  expectProblem(await site.app.inject('/api/leaderboards/today/tally'), 400, 'bad_period');
  expectProblem(await site.app.inject('/api/leaderboards/1999-12-31/tally'), 404, 'period_not_found');
  expect(await site.database.query("SELECT FROM tally_secrets WHERE day = '1999-12-31'")).toEqual([]);
});

test('an aborted download of a tally releases its database connection and its slot, and is not logged as a failure', async () => {
  await expect.poll(async () => (await site.app.inject(tallyPath)).body).toContain('"tide"');
  await site.database.query(
    `INSERT INTO upvotes (id, product_id, user_session, created_at)
     SELECT gen_random_uuid(), 'tide', 'session-' || n, $1::timestamptz + n * interval '1 ms' FROM generate_series(1, 20000) AS n`,
    [now.toISOString()],
  );
  const address = await site.app.listen({ host: '127.0.0.1', port: 0 });
  const released = () => expect.poll(() => site.database.connections().busy).toBeLessThanOrEqual(1);
  // Sends one request after the other, because a request waits at most five seconds for a slot.
  for (let request = 1; request <= 3; request += 1) {
    await (await fetch(`${address}${tallyPath}`)).body?.cancel();
    await released();
  }
  const texts = [await (await fetch(`${address}${tallyPath}`)).text()];
  texts.push(await (await fetch(`${address}${tallyPath}`)).text());
  expect(new Set(texts).size).toBe(1);
  expect(texts[0]?.split('\n').length).toBeGreaterThan(20_000);
  await released();
  const warnings = logLines.lines().filter(({ level }) => Number(level) >= WARN);
  expect(warnings.filter(({ msg }) => /Request failed|Reply was already sent/.test(String(msg)))).toEqual([]);
});

test('the ETag of a final tally is its digest, which the leaderboard shows', async () => {
  const later = new Date(now.getTime() + 4 * 24 * 3_600_000);
  await finalizeDue(site.database, {
    rules: { now: later, timeZone: 'UTC', reviewHours: 24 },
    votesPerNetwork: 20,
  });
  await expect
    .poll(async () => (await site.app.inject(`/api/leaderboards/${day}`)).json())
    .toMatchObject({ status: 'final' });
  const tally = await site.app.inject(tallyPath);
  const hex = createHash('sha256').update(tally.body).digest('hex');
  expect(tally.headers.etag).toBe(`"sha256-${hex}"`);
  expect((await site.app.inject(`/api/leaderboards/${day}`)).json().digest).toBe(`sha256:${hex}`);
});
