import { request as httpRequest } from 'node:http';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { CommentPage } from '../../src/contract/comments/schema.ts';
import { PROBLEM_CODES, type Problem } from '../../src/contract/problem.ts';
import type { ProductPage } from '../../src/contract/products/schema.ts';
import type { CreatedSubmission } from '../../src/contract/submissions/schema.ts';
import { checkCounts } from '../../src/core/counts/check-counts.ts';
import { type Known, type MadeRequest, requestsTo } from '../hostile/requests.ts';
import { instantPictures } from '../support/instant-pictures.ts';
import { createLogLines } from '../support/log-lines.ts';
import { createDescriptionCheck, type OpenApi, type TestResponse } from '../support/openapi.ts';
import { apiOperations } from '../support/registered-routes.ts';
import { newVisitor } from '../support/requests.ts';
import { startTestSite, type TestSite } from '../support/test-site.ts';

/** The number of requests per operation. */
const RUNS = Number(process.env.FUZZ_RUNS ?? 60);
const { seed: SEED } = fc.readConfigureGlobal();

/** Problems that any URL of the API may return, which the OpenAPI document lists under `default`. */
const OF_ANY_ADDRESS = ['not_found', 'uri_too_long', 'headers_too_large'];

const OPERATIONS = Object.keys(await apiOperations());
const PRODUCTS = ['git', 'rust', 'tide'];
const { log, lines } = createLogLines();
let site: TestSite;
let address: string;
let openApi: OpenApi;
let expectDescribed: ReturnType<typeof createDescriptionCheck>;
const known: Record<string, string[]> = {};

beforeAll(async () => {
  site = await startTestSite({
    log,
    cacheEnabled: true,
    submittedPictures: instantPictures(),
    hasModerationLog: true,
  });
  const visitors = [newVisitor(), newVisitor()];
  for (const id of PRODUCTS) {
    await site.addProduct({ id, name: `The ${id}`, tags: ['Waves'] });
    for (const visitor of visitors) await site.ask.post('/api/comments', { productId: id, content: 'Text' }, visitor);
  }
  // A launch has no standing until it is on its leaderboards.
  for (const id of PRODUCTS) await vi.waitUntil(async () => (await site.core.getStandings(id)) !== null, 60_000);
  const cursors = await Promise.all([
    ...['newest', 'top', 'discussed'].map((sort) => site.ask.json<ProductPage>(`/api/products?limit=1&sort=${sort}`)),
    ...['best', 'newest', 'oldest'].map((sort) =>
      site.ask.json<CommentPage>(`/api/products/git/comments?limit=1&sort=${sort}`),
    ),
  ]);
  const { items } = await site.ask.json<CommentPage>('/api/products/git/comments');
  const { submission, makerKey } = (
    await site.ask.post('/api/submissions', { name: 'Wave' }, newVisitor())
  ).json<CreatedSubmission>();
  Object.assign(known, {
    submissionId: [submission.id],
    Authorization: [`Bearer ${makerKey}`],
    launchAt: [new Date(Date.now() + 86_400_000).toISOString()],
    productId: PRODUCTS,
    period: Object.values(site.core.currentPeriods()),
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

/** Returns known values by parameter. The meaning of `id` depends on the path before it. */
const knownAt =
  (path: string): Known =>
  (name) =>
    known[name === 'id' ? idAt(path) : name];

function idAt(path: string): string {
  if (path.startsWith('/api/comments/')) return 'commentId';
  if (path.startsWith('/api/submissions/')) return 'submissionId';
  return path.startsWith('/api/leaderboards/') ? 'period' : 'productId';
}

/** Sends a request over a socket, like a client. For a stream, returns the first event. */
function send({ method, url, headers, body }: MadeRequest): Promise<TestResponse> {
  return new Promise((resolve, reject) => {
    // Node.js sends no Content-Length with the body of a DELETE, so the server would read the body as another request.
    const length = body === undefined ? {} : { 'Content-Length': Buffer.byteLength(body) };
    const options = { method, path: url, headers: { ...headers, ...length }, agent: false };
    const request = httpRequest(address, options, (response) => {
      let text = '';
      const { statusCode = 0, headers: sent } = response;
      const finish = () => resolve({ statusCode, headers: sent, body: text });
      response.setEncoding('utf8').on('end', finish);
      response.on('data', (chunk) => {
        text += chunk;
        if (!sent['content-type']?.startsWith('text/event-stream')) return;
        finish();
        request.destroy();
      });
    });
    request.on('error', reject);
    request.end(body);
  });
}

/** The statuses of the responses so far, by operation. */
const statusesOf = new Map<string, Set<number>>();

function judge(response: TestResponse, path: string, method: string): void {
  expect(response.statusCode, response.body).toBeLessThan(500);
  const described = expectDescribed(response, path, method, { anyProblem: true });
  const problems = described.content?.['application/problem+json'];
  if (problems !== undefined) {
    const { code, status } = JSON.parse(response.body) as Problem;
    const codes =
      problems.examples === undefined ? PROBLEM_CODES : [...Object.keys(problems.examples), ...OF_ANY_ADDRESS];
    expect(codes, `${method} ${path}: ${response.body}`).toContain(code);
    expect(status).toBe(response.statusCode);
  } else {
    expect(response.statusCode).toBeLessThan(400);
  }
  const key = `${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`;
  statusesOf.set(key, (statusesOf.get(key) ?? new Set()).add(response.statusCode));
}

async function fuzz(key: string): Promise<void> {
  const [verb = '', url = ''] = key.split(' ');
  const [method, path] = [verb.toLowerCase(), url.replaceAll(/:(\w+)/g, '{$1}')];
  await fc.assert(
    fc.asyncProperty(requestsTo(openApi, path, method, knownAt(path)), async (request) => {
      judge(await send(request), path, method);
    }),
    { numRuns: RUNS, endOnFailure: RUNS > 1_000 },
  );
}

/** Calls the operations whose tests have not run, for example because only the current test was selected. */
async function fuzzRemaining(): Promise<void> {
  for (const key of OPERATIONS) if (!statusesOf.has(key)) await fuzz(key);
}

describe(`For any request (FUZZ_SEED=${SEED}, FUZZ_RUNS=${RUNS})`, () => {
  const timeout = 300_000 + RUNS * 1_000;
  test.each(OPERATIONS)('%s responds as the OpenAPI document says', { timeout }, fuzz);

  test('every operation of the document was called and succeeded at least once', { timeout }, async () => {
    await fuzzRemaining();
    const described = Object.entries(openApi.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`),
    );
    expect([...statusesOf.keys()].sort()).toEqual(described.sort());
    for (const [key, statuses] of statusesOf)
      expect([key, [...statuses].some((status) => status < 300)]).toEqual([key, true]);
  });

  test('the site stays up, logs no failures, and each count matches its rows', { timeout }, async () => {
    await fuzzRemaining();
    expect((await site.ask.get('/healthz')).statusCode).toBe(200);
    expect((await site.ask.get('/readyz')).statusCode).toBe(200);
    expect(lines().filter(({ level }) => Number(level) >= 50)).toEqual([]);
    expect((await checkCounts(site.database, { after: '', limit: 1_000 })).wrong).toEqual([]);
  });
});

test('the checks detect a response that does not match the document', async () => {
  const response = await send({ method: 'GET', url: '/api/products/git', headers: {}, body: undefined });
  expect(() => judge(response, '/api/products', 'get')).toThrow();
  const failed = { statusCode: 500, headers: {}, body: '{}' };
  expect(() => judge(failed, '/api/products', 'get')).toThrow();
});
