import { once } from 'node:events';
import { type IncomingMessage, request as startRequest } from 'node:http';
import { afterEach, describe, expect, test } from 'vitest';
import type { CreatedSubmission } from '../../src/contract/submissions/schema.ts';
import { renewMakerKey } from '../../src/core/submissions/change-submission.ts';
import { listSubmissions } from '../../src/core/submissions/list-submissions.ts';
import { MAX_SUBMISSION_BODY_BYTES } from '../../src/server/routes/submissions.ts';
import { DEFAULT_RATE_LIMITS } from '../../src/settings/rate-limits.ts';
import { expectProblem } from '../support/expect-problem.ts';
import { instantPictures } from '../support/instant-pictures.ts';
import { createLogLines } from '../support/log-lines.ts';
import { newVisitor } from '../support/requests.ts';
import { createTestClock } from '../support/test-clock.ts';
import { startTestSite, type TestSite } from '../support/test-site.ts';

let site: TestSite;
afterEach(() => site.close());

const { log, text } = createLogLines();

async function start(options: Parameters<typeof startTestSite>[0] = {}) {
  site = await startTestSite({
    log,
    runtime: createTestClock(),
    rateLimits: DEFAULT_RATE_LIMITS,
    submittedPictures: instantPictures(),
    ...options,
  });
}

const submit = (fields: object, visitor: Record<string, string> = newVisitor(), remoteAddress = '192.0.2.1') =>
  site.app.inject({
    method: 'POST',
    url: '/api/submissions',
    remoteAddress,
    headers: { ...visitor, 'content-type': 'application/json' },
    payload: JSON.stringify(fields),
  });

describe('The limits of submissions', () => {
  test('allow a session ten submissions an hour, not counting failed attempts', async () => {
    await start();
    const visitor = newVisitor();
    const failed = await Promise.all(Array.from({ length: 30 }, () => submit({ name: '' }, visitor)));
    for (const { statusCode, headers } of failed) {
      expect(statusCode).toBe(422);
      expect(headers['ratelimit-policy']).not.toContain('w=3600');
    }
    await site.database.query(`CREATE FUNCTION conflict() RETURNS trigger LANGUAGE plpgsql
      AS $$ BEGIN RAISE 'conflict' USING ERRCODE = '40001'; END $$`);
    await site.database.query(
      'CREATE TRIGGER failing BEFORE INSERT ON submissions FOR EACH ROW EXECUTE FUNCTION conflict()',
    );
    // The site retries the transaction several times. None of these attempts counts.
    expect((await submit({ name: 'Wave' }, visitor)).statusCode).toBe(500);
    await site.database.query('DROP TRIGGER failing ON submissions');
    for (let index = 0; index < 10; index += 1) {
      expect((await submit({ name: 'Wave' }, visitor, `198.51.${index}.1`)).statusCode).toBe(201);
    }
    const refused = await submit({ name: 'Wave' }, visitor);
    expectProblem(refused, 429, 'rate_limited');
    expect(refused.headers['retry-after']).toBe('360');
  });

  test('allow a network twenty submissions an hour, and an address five waiting ones, not counting failed or repeated attempts', async () => {
    await start();
    const repeatable = { ...newVisitor(), 'idempotency-key': 'draft' };
    expect((await submit({ name: 'Wave' }, repeatable)).statusCode).toBe(201);
    for (let index = 0; index < 30; index += 1) {
      expect((await submit({}, {})).statusCode).toBe(422);
      expectProblem(await submit({ name: 'Wave' }, {}), 400, 'session_required');
      expect((await submit({ name: 'Wave' }, repeatable)).statusCode).toBe(200);
    }
    for (let index = 1; index < 20; index += 1) {
      const address = `192.0.2.${1 + Math.floor(index / 5)}`;
      expect((await submit({ name: 'Wave' }, newVisitor(), address)).statusCode).toBe(201);
      if (index === 5) expectProblem(await submit({ name: 'Wave' }), 429, 'too_many_waiting');
    }
    expectProblem(await submit({ name: 'Wave' }, newVisitor(), '192.0.2.9'), 429, 'rate_limited');
    expect((await submit({ name: 'Wave' }, repeatable)).statusCode).toBe(200);
  });

  test('count a failed attempt as a request by a maker', async () => {
    await start({ rateLimits: { ...DEFAULT_RATE_LIMITS, maker: { network: { amount: 2, seconds: 60 } } } });
    for (let index = 0; index < 2; index += 1) await submit({ name: '' });
    expectProblem(await submit({ name: 'Wave' }), 429, 'rate_limited');
  });

  test('apply to guesses of maker keys, by network', async () => {
    await start({ rateLimits: { ...DEFAULT_RATE_LIMITS, maker: { network: { amount: 2, seconds: 60 } } } });
    const guess = async (remoteAddress: string) =>
      (await site.app.inject({ url: '/api/submissions/wave', remoteAddress, headers: { authorization: 'Bearer x' } }))
        .statusCode;
    const statuses = [await guess('192.0.2.1'), await guess('192.0.2.1'), await guess('192.0.2.1')];
    expect(statuses).toEqual([404, 404, 429]);
    expect(await guess('198.51.100.1')).toBe(404);
  });

  test('do not apply with RATE_LIMITS=off, not even to waiting submissions', async () => {
    await start({ rateLimits: undefined });
    for (let index = 0; index < 7; index += 1) {
      expect((await submit({ name: 'Wave' })).statusCode).toBe(201);
    }
  });
});

test('a maker key is checked before the body of an edit is received', async () => {
  await start();
  const { makerKey } = (await submit({ name: 'Wave' })).json<CreatedSubmission>();
  const url = `${await site.app.listen({ port: 0 })}/api/submissions/wave`;
  const responseTo = async (key: string, body?: string) => {
    const length = body?.length ?? MAX_SUBMISSION_BODY_BYTES;
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'content-length': length };
    const request = startRequest(url, { method: 'PATCH', headers });
    if (body === undefined) request.flushHeaders();
    else request.end(body);
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    request.on('error', () => {}).destroy();
    return response.statusCode;
  };
  expect(await responseTo('x'.repeat(43))).toBe(404);
  expect(await responseTo(makerKey, '{"name":"Surf"}')).toBe(200);
  await site.ask.delete('/api/submissions/wave', { authorization: `Bearer ${makerKey}` });
  expect(await responseTo(makerKey)).toBe(409);
});

test('a comment with a maker key but without a product id or text is incomplete, like any other comment', async () => {
  await start();
  const { submission, makerKey } = (await submit({ name: 'Spoken' })).json<CreatedSubmission>();
  for (const empty of [{ productId: '' }, { content: ' ' }]) {
    const body = { productId: submission.id, content: 'Ask me anything', ...empty };
    const headers = { ...newVisitor(), authorization: `Bearer ${makerKey}x` };
    const refused = await site.ask.post('/api/comments', body, headers);
    expectProblem(refused, 400, 'comment_incomplete', 'Product ID and content are required');
  }
});

test('submissions with a filled honeypot field or repeated text get the usual response and are listed last', async () => {
  await start();
  const visitor = newVisitor();
  expect((await submit({ name: 'Bot', website: 'https://spam.example' })).statusCode).toBe(201);
  for (let index = 0; index < 3; index += 1) {
    const sent = { name: 'Cheap pills', description: 'Buy now' };
    expect((await submit(sent, visitor, `198.51.${index}.1`)).statusCode).toBe(201);
  }
  const { items } = await listSubmissions(
    site.database,
    { status: 'waiting', limit: 9 },
    { now: new Date(), timeZone: 'UTC' },
  );
  expect(items.map(({ product, suspectedSpam }) => [product.name, suspectedSpam])).toEqual([
    ['Cheap pills', false],
    ['Cheap pills', false],
    ['Bot', true],
    ['Cheap pills', true],
  ]);
});

test('maker keys are not in the log, in the database or in other responses, even after failures', async () => {
  await start();
  const visitor = { ...newVisitor(), 'idempotency-key': 'draft' };
  const keys: string[] = [];
  const responses: string[] = [];
  for (let time = 0; time < 2; time += 1) {
    const { makerKey } = (await submit({ name: 'Secret' }, visitor)).json<CreatedSubmission>();
    keys.push(makerKey);
  }
  keys.push(await renewMakerKey(site.database, 'secret'));
  for (const key of keys) {
    for (const [method, url] of [
      ['GET', '/api/submissions/secret'],
      ['GET', '/api/submissions/nothing'],
      ['PATCH', '/api/submissions/secret'],
      ['PUT', '/api/submissions/secret/image'],
      ['POST', '/api/comments'],
      ['GET', '/api/nothing'],
      ['GET', '/product/secret'],
    ] as const) {
      const payload = '{"name":7,"productId":"secret","content":"x"}';
      const headers = { ...newVisitor(), authorization: `Bearer ${key}`, 'content-type': 'application/json' };
      const response = await site.app.inject({ method, url, headers, ...(method === 'GET' ? {} : { payload }) });
      responses.push(`${JSON.stringify(response.headers)}${response.body}`);
    }
  }
  const tables = await site.database.query<{ content: string }>(
    `SELECT (to_jsonb(s) || to_jsonb(k))::text AS content FROM submissions s
     LEFT JOIN submission_idempotency_keys k ON k.submission_id = s.id`,
  );
  const everything = [text(), ...responses, ...tables.map(({ content }) => content)].join('\n');
  expect(everything).toContain('secret');
  for (const key of keys) expect(everything).not.toContain(key);
});

test('if submissions are disabled, their URLs are unknown and a maker key in a comment request has no effect', async () => {
  await start({ submittedPictures: undefined, rateLimits: undefined });
  await site.addProduct({ id: 'wave', createdAt: '2026-01-01T00:00:00.000Z' });
  expectProblem(await submit({ name: 'Wave' }), 404, 'not_found');
  for (const method of ['GET', 'PATCH', 'DELETE', 'PUT', 'POST'] as const) {
    for (const path of ['', '/wave', '/wave/image', '/wave/screenshots', '/wave/screenshots/0']) {
      const response = await site.app.inject({ method, url: `/api/submissions${path}` });
      expectProblem(response, 404, 'not_found', 'There is nothing at this address.');
    }
  }
  const headers = { ...newVisitor(), authorization: 'Bearer x' };
  const comment = await site.ask.post('/api/comments', { productId: 'wave', content: 'Hello' }, headers);
  expect(comment.json()).toMatchObject({ comment: { authorName: 'You', authorBadge: null } });
  const described = (await site.ask.get('/api/openapi.json')).body;
  expect(described).not.toMatch(/\/api\/submissions|MakerKey|Submissions/);
});
