import { randomInt } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { CommentPage } from '../../src/contract/comments/schema.ts';
import { PROBLEM_CODES, type Problem } from '../../src/contract/problem.ts';
import type { ProductPage } from '../../src/contract/products/schema.ts';
import { checkCounts } from '../../src/core/counts/check-counts.ts';
import { OPERATIONS } from '../../src/server/openapi/operations.ts';
import { type Known, type MadeRequest, requestsTo } from '../hostile/requests.ts';
import { createLogLines } from '../support/log-lines.ts';
import { type Answer, createDescriptionCheck, type OpenApi } from '../support/openapi.ts';
import { newVisitor } from '../support/requests.ts';
import { startTestSite, type TestSite } from '../support/test-site.ts';

/**
 * Requests to each operation, and what they are made from: the same seed makes the same ones. Among the other tests they are always the
 * same, so that what fails there is a fault of the change at hand; who asks for a number of them looks for something new.
 */
const { FUZZ_RUNS, FUZZ_SEED } = process.env;
const RUNS = Number(FUZZ_RUNS ?? 60);
const SEED = Number(FUZZ_SEED ?? (FUZZ_RUNS === undefined ? 20_261_122 : randomInt(2 ** 31)));

/** What any address of the API may answer, whatever it is for: the document says so under `default`. */
const OF_ANY_ADDRESS = ['not_found', 'uri_too_long', 'headers_too_large'];

const PRODUCTS = ['git', 'rust', 'tide'];
const { log, lines } = createLogLines();
let site: TestSite;
let address: string;
let openApi: OpenApi;
let expectDescribed: ReturnType<typeof createDescriptionCheck>;
const known: Record<string, string[]> = {};

beforeAll(async () => {
  site = await startTestSite({ log, keepsAnswers: true });
  const visitors = [newVisitor(), newVisitor()];
  for (const id of PRODUCTS) {
    await site.addProduct({ id, name: `The ${id}`, tags: ['Waves'] });
    for (const visitor of visitors) await site.ask.post('/api/comments', { productId: id, content: 'Text' }, visitor);
  }
  const cursors = await Promise.all([
    ...['newest', 'top', 'discussed'].map((sort) => site.ask.json<ProductPage>(`/api/products?limit=1&sort=${sort}`)),
    ...['best', 'newest', 'oldest'].map((sort) =>
      site.ask.json<CommentPage>(`/api/products/git/comments?limit=1&sort=${sort}`),
    ),
  ]);
  const { items } = await site.ask.json<CommentPage>('/api/products/git/comments');
  Object.assign(known, {
    productId: PRODUCTS,
    products: ['git', 'git,rust', 'tide,nothing,git'],
    commentId: items.map(({ id }) => id),
    cursor: cursors.map(({ nextCursor }) => nextCursor ?? ''),
    q: ['the', 'git', 'T'],
    tag: ['waves'],
    'X-User-Session': visitors.map((visitor) => visitor['x-user-session']),
    'If-None-Match': [String((await site.ask.get('/api/products/git')).headers.etag), '*'],
  });
  openApi = await site.ask.json<OpenApi>('/api/openapi.json');
  expectDescribed = createDescriptionCheck(openApi);
  address = await site.app.listen({ port: 0 });
});

afterAll(() => site.close());

/** `id` is of whatever stands before it in the address. */
const knownAt =
  (path: string): Known =>
  (name) =>
    known[name === 'id' ? (path.startsWith('/api/comments/') ? 'commentId' : 'productId') : name];

/** Over a socket, as clients ask. Of a stream, the first that it says. */
function send({ method, url, headers, body }: MadeRequest): Promise<Answer> {
  return new Promise((resolve, reject) => {
    // Of a DELETE, Node itself would not say how long its body is, so that it would be read as another request.
    const length = body === undefined ? {} : { 'Content-Length': Buffer.byteLength(body) };
    const options = { method, path: url, headers: { ...headers, ...length }, agent: false };
    const request = httpRequest(address, options, (response) => {
      let text = '';
      const { statusCode = 0, headers: answered } = response;
      const answer = () => resolve({ statusCode, headers: answered, body: text });
      response.setEncoding('utf8').on('end', answer);
      response.on('data', (chunk) => {
        text += chunk;
        if (!answered['content-type']?.startsWith('text/event-stream')) return;
        answer();
        request.destroy();
      });
    });
    request.on('error', reject);
    request.end(body);
  });
}

/** Statuses by operation. */
const answered = new Map<string, Set<number>>();

function judge(answer: Answer, path: string, method: string): void {
  expect(answer.statusCode, answer.body).toBeLessThan(500);
  const described = expectDescribed(answer, path, method, { anyProblem: true });
  const problems = described.content?.['application/problem+json'];
  if (problems !== undefined) {
    const { code, status } = JSON.parse(answer.body) as Problem;
    const codes =
      problems.examples === undefined ? PROBLEM_CODES : [...Object.keys(problems.examples), ...OF_ANY_ADDRESS];
    expect(codes, `${method} ${path}: ${answer.body}`).toContain(code);
    expect(status).toBe(answer.statusCode);
  } else {
    expect(answer.statusCode).toBeLessThan(400);
  }
  const key = `${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`;
  answered.set(key, (answered.get(key) ?? new Set()).add(answer.statusCode));
}

describe(`Whatever is sent (FUZZ_SEED=${SEED}, FUZZ_RUNS=${RUNS})`, () => {
  const timeoutMs = 60_000 + RUNS * 1_000;
  test.each(Object.keys(OPERATIONS))('%s answers as the OpenAPI document says', { timeout: timeoutMs }, async (key) => {
    const [verb = '', url = ''] = key.split(' ');
    const [method, path] = [verb.toLowerCase(), url.replaceAll(/:(\w+)/g, '{$1}')];
    await fc.assert(
      fc.asyncProperty(requestsTo(openApi, path, method, knownAt(path)), async (request) => {
        judge(await send(request), path, method);
      }),
      { numRuns: RUNS, seed: SEED, endOnFailure: RUNS > 1_000 },
    );
  });

  test('every operation of the document was asked, and had what was wanted at least once', () => {
    const described = Object.entries(openApi.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`),
    );
    expect([...answered.keys()].sort()).toEqual(described.sort());
    for (const [key, statuses] of answered)
      expect([key, [...statuses].some((status) => status < 300)]).toEqual([key, true]);
  });

  test('the site lives, nothing failed in it, and each count is that of its rows', async () => {
    expect((await site.ask.get('/healthz')).statusCode).toBe(200);
    expect((await site.ask.get('/readyz')).statusCode).toBe(200);
    expect(lines().filter(({ level }) => Number(level) >= 50)).toEqual([]);
    expect((await checkCounts(site.database, { after: '', limit: 1_000 })).wrong).toEqual([]);
  });
});

test('an answer that is not as described is found', async () => {
  const answer = await send({ method: 'GET', url: '/api/products/git', headers: {}, body: undefined });
  expect(() => judge(answer, '/api/products', 'get')).toThrow();
  const failed = { statusCode: 500, headers: {}, body: '{}' };
  expect(() => judge(failed, '/api/products', 'get')).toThrow();
});
