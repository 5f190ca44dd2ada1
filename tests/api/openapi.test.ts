import { createConfig, lintFromString } from '@redocly/openapi-core';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PROBLEM_CODES } from '../../src/contract/problem.ts';
import { DAY_MS } from '../../src/core/runtime.ts';
import { instantPictures } from '../support/instant-pictures.ts';
import { createDescriptionCheck, type OpenApi, resolve } from '../support/openapi.ts';
import { apiOperations } from '../support/registered-routes.ts';
import { newVisitor } from '../support/requests.ts';
import { createTestClock } from '../support/test-clock.ts';
import { startTestSite, type TestSite } from '../support/test-site.ts';

const OPERATIONS = await apiOperations();
let site: TestSite;
let openApi: OpenApi;

beforeAll(async () => {
  site = await startTestSite({ submittedPictures: instantPictures(), hasModerationLog: true });
  await site.addProduct({
    id: 'git',
    name: 'Git',
    tags: ['Versions'],
    team: [{ name: 'A', avatar: '/a.svg', role: 'B' }],
  });
  await site.addProduct({ id: 'rust', name: 'Rust' });
  openApi = await site.ask.json<OpenApi>('/api/openapi.json');
});

afterAll(() => site.close());

/** Returns the operations whose routes are registered, such as `GET /api/products/:id`. */
function registeredRoutes(app: FastifyInstance): string[] {
  return Object.keys(OPERATIONS).filter((key) => {
    const [method = '', url = ''] = key.split(' ');
    return app.hasRoute({ method, url });
  });
}

describe('the OpenAPI document', () => {
  test('is OpenAPI 3.1, with URLs that are based on SITE_URL, not on Host', async () => {
    const response = await site.ask.get('/api/openapi.json', { host: 'evil.example' });
    expect(response.headers['content-type']).toBe('application/json; charset=utf-8');
    expect(response.headers.etag).toMatch(/^"[\w-]+"$/);
    expect(response.body).not.toContain('evil.example');
    expect(openApi.openapi).toMatch(/^3\.1\.\d$/);
    expect(openApi.servers).toEqual([{ url: 'http://groundswell.test' }]);
  });

  test('passes Redocly’s recommended rules without errors or warnings', async () => {
    const config = await createConfig({ extends: ['recommended'] });
    const lint = async (document: object) => {
      const problems = await lintFromString({ source: JSON.stringify(document), config });
      return problems.map(({ ruleId, severity, message, location }) => {
        return `${severity} ${ruleId} ${location[0]?.pointer}: ${message}`;
      });
    };
    expect(await lint(openApi)).toEqual([]);
    const [path = ''] = Object.keys(openApi.paths);
    expect(await lint({ ...openApi, paths: { [path]: { get: { responses: {} } } } })).not.toEqual([]);
  });

  test('has exactly the routes of the API', () => {
    const described = Object.entries(openApi.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`),
    );
    expect(described.sort()).toEqual([...apiRoutesIn(site.app.printRoutes({ commonPrefix: false }))].sort());
    expect(registeredRoutes(site.app).sort()).toEqual(described.sort());
  });

  test('has valid examples of cursors: each list accepts them with the examples of the other parameters', async () => {
    const lists = Object.entries(openApi.paths)
      .map(([path, { get }]) => ({ path, parameters: get?.parameters.map((each) => resolve(openApi, each)) ?? [] }))
      .filter(({ parameters }) => parameters.some(({ name }) => name === 'cursor'));
    expect(lists.length).toBeGreaterThan(4);
    for (const { path, parameters } of lists) {
      const exampleOf = (name: string) => String(parameters.find((parameter) => parameter.name === name)?.example);
      const query = new URLSearchParams(
        parameters.flatMap(({ in: place, name }) => (place === 'query' ? [[name, exampleOf(name)]] : [])),
      );
      const url = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => exampleOf(name));
      const response = await site.ask.get(`${url}?${query}`);
      expect([url, response.json().code ?? 'none']).not.toEqual([url, expect.stringMatching(/^bad_/)]);
    }
  });

  test('has an example of a submission that is still accepted in two years', async () => {
    const runtime = createTestClock(new Date(Date.now() + 2 * 365 * DAY_MS));
    const later = await startTestSite({ runtime, databaseOf: site, submittedPictures: instantPictures() });
    const body = openApi.paths['/api/submissions']?.post?.requestBody?.content['application/json']?.example;
    const response = await later.ask.post('/api/submissions', body, newVisitor());
    expect(response.statusCode, response.body).toBe(201);
    await later.close();
  });

  test('contains the limits of the fields of a submission', () => {
    const create = openApi.paths['/api/submissions']?.post;
    expect(create?.description).toContain('`name` 300, `description` 10,000, `tags` 20 items of 60, ');
    expect(openApi.components.schemas.NewSubmission?.properties?.launchAt?.description).toContain('at most 366 days');
  });

  test('names only existing error codes, and describes the rate-limit headers and the ETag header', () => {
    const operations = Object.values(openApi.paths).flatMap((methods) => Object.values(methods));
    expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(operations.length);
    expect(Object.values(OPERATIONS).flatMap(({ problems }) => problems)).toEqual(
      expect.arrayContaining(['rate_limited', 'product_not_found', 'comment_too_long']),
    );
    for (const { problems } of Object.values(OPERATIONS)) {
      for (const code of problems) expect(PROBLEM_CODES).toContain(code);
    }
    const upvote = openApi.paths['/api/products/{id}/upvote']?.put;
    expect(Object.keys(upvote?.responses['429']?.headers ?? {})).toEqual(
      expect.arrayContaining(['Retry-After', 'RateLimit', 'RateLimit-Policy']),
    );
    expect(Object.keys(openApi.paths['/api/products']?.get?.responses['200']?.headers ?? {})).toContain('ETag');
  });
});

/** Returns the API's routes from the router's printed tree, whose lines have a part of the URL and the methods. */
function apiRoutesIn(tree: string): Set<string> {
  const found = new Set<string>();
  const pieces: string[] = [];
  for (const line of tree.split('\n')) {
    const match = /^((?:[│ ] {3})*)[├└]── (\S*)(?: \((.*)\))?$/.exec(line);
    if (match === null) continue;
    const [, indent = '', piece = '', methods = ''] = match;
    pieces.length = indent.length / 4;
    pieces.push(piece);
    const url = pieces.join('');
    if (!url.startsWith('/api/') || url.startsWith('/api/docs/')) continue;
    for (const method of methods.split(', ')) if (method !== '' && method !== 'HEAD') found.add(`${method} ${url}`);
  }
  return found;
}

describe('responses of the running site', () => {
  const session = newVisitor();
  let commentId: string;
  let expectDescribed: ReturnType<typeof createDescriptionCheck>;

  beforeAll(async () => {
    expectDescribed = createDescriptionCheck(openApi);
    const response = await site.ask.post('/api/comments', { productId: 'git', content: 'Worktrees!' }, session);
    commentId = response.json().comment.id;
  });

  test.each([
    ['/api/products', '/api/products'],
    ['/api/products', '/api/products?q=git&tag=versions&sort=top&limit=1'],
    ['/api/products', '/api/products?limit=1'],
    ['/api/products', '/api/products?limit=none'],
    ['/api/products', '/api/products?cursor=x'],
    ['/api/products/{id}', '/api/products/git'],
    ['/api/products/{id}', '/api/products/nothing'],
    ['/api/products/{id}', '/api/products/%zz'],
    ['/api/products/{id}/comments', '/api/products/git/comments'],
    ['/api/products/{id}/comments', '/api/products/git/comments?sort=up'],
    ['/api/products/{id}/comments', '/api/products/nothing/comments'],
    ['/api/products/{id}/comments/held', '/api/products/git/comments/held'],
    ['/api/products/{id}/comments/held', '/api/products/nothing/comments/held'],
    ['/api/upvotes', '/api/upvotes?products=git,rust'],
    ['/api/upvotes', '/api/upvotes'],
    ['/api/events', `/api/events?products=${'a,'.repeat(101)}`],
    ['/api/openapi.json', '/api/openapi.json'],
    ['/api/docs', '/api/docs'],
  ])('a response to GET %s matches the OpenAPI document: %s', async (path, url) => {
    expectDescribed(await site.ask.get(url, session), path, 'get');
  });

  test('a 304 response matches the OpenAPI document', async () => {
    const { headers } = await site.ask.get('/api/products');
    const response = await site.ask.get('/api/products', { 'if-none-match': String(headers.etag) });
    expect(response.statusCode).toBe(304);
    expectDescribed(response, '/api/products', 'get');
  });

  test('responses to PUT and DELETE of an upvote match the OpenAPI document', async () => {
    const path = '/api/products/{id}/upvote';
    for (const id of ['git', 'nothing']) {
      expectDescribed(await site.ask.put(`/api/products/${id}/upvote`, session), path, 'put');
      expectDescribed(await site.ask.delete(`/api/products/${id}/upvote`, session), path, 'delete');
    }
    expectDescribed(await site.ask.put('/api/products/git/upvote'), path, 'put');
  });

  test.each([
    [201, { productId: 'git', content: 'New' }, {}],
    [400, { productId: 'git' }, {}],
    [400, { productId: 'git', content: 'x' }, { 'idempotency-key': 'with spaces' }],
    [404, { productId: 'nothing', content: 'x' }, {}],
    [413, { productId: 'git', content: 'x'.repeat(20_000) }, {}],
    [415, 'content=x', { 'content-type': 'text/plain' }],
    [422, { productId: 'git', content: 'x'.repeat(2_001) }, {}],
  ])('a response to POST of a comment matches the OpenAPI document: %i', async (status, body, headers) => {
    const response = await site.ask.post('/api/comments', body, { ...session, ...(headers as Record<string, string>) });
    expect(response.statusCode).toBe(status);
    expectDescribed(response, '/api/comments', 'post');
  });

  test('responses to a repeated comment and to a like match the OpenAPI document', async () => {
    const draft = { productId: 'git', content: 'Once' };
    for (const status of [201, 200]) {
      const response = await site.ask.post('/api/comments', draft, { ...session, 'idempotency-key': 'once' });
      expect(response.statusCode).toBe(status);
      expectDescribed(response, '/api/comments', 'post');
    }
    for (const id of [commentId, 'nothing']) {
      const response = await site.ask.post(`/api/comments/${id}/like`, undefined, session);
      expectDescribed(response, '/api/comments/{id}/like', 'post');
    }
  });

  test('the check detects mismatches', async () => {
    const response = await site.ask.get('/api/products/git');
    expect(() => expectDescribed(response, '/api/products', 'get')).toThrow();
  });
});

describe('the API reference', () => {
  test('serves the files that its page loads, and no others', async () => {
    const page = await site.ask.get('/api/docs');
    expect(page.statusCode).toBe(200);
    const files = [...page.body.matchAll(/(?:src|href)="(\/api\/docs\/[^"]+)"/g)].map(([, path = '']) => path);
    expect(files.length).toBeGreaterThan(2);
    for (const path of files) {
      const { statusCode, body, headers } = await site.ask.get(path);
      expect([statusCode, body.length > 0, headers['content-type']], path).toEqual([
        200,
        true,
        expect.stringMatching(/^(?:text\/(?:css|javascript)|image\/)/),
      ]);
    }
    for (const name of ['package.json', '..%2fpackage.json', 'toString', 'nothing.js'])
      expect((await site.ask.get(`/api/docs/${name}`)).statusCode, name).toBe(404);
  });
});
