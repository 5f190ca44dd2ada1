import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import openapiTypescript, { astToString, COMMENT_HEADER } from 'openapi-typescript';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createApiClient } from '../../examples/api-client/client.ts';
import { startTestSite, type TestSite } from '../support/test-site.ts';

const ROOT = join(import.meta.dirname, '../..');
const EXAMPLE = join(ROOT, 'examples/api-client');

let site: TestSite;
let address: string;

beforeAll(async () => {
  site = await startTestSite();
  for (let index = 0; index < 120; index += 1) await site.addProduct();
  address = await site.app.listen({ host: '127.0.0.1', port: 0 });
});

afterAll(() => site.close());

test('the types of the example client match the site’s OpenAPI document', async () => {
  // The document contains the site’s URL, but the types do not depend on that URL.
  const document = await (await fetch(`${address}/api/openapi.json`)).text();
  const generated = astToString(await openapiTypescript(document));
  await expect(`${COMMENT_HEADER}${generated}`).toMatchFileSnapshot(join(EXAMPLE, 'api.d.ts'));
});

test('the example client runs against a site', async () => {
  const tsx = join(ROOT, 'node_modules/.bin/tsx');
  const { stdout, stderr } = await promisify(execFile)(tsx, [join(EXAMPLE, 'main.ts'), address]);
  expect(stderr).toBe('');
  expect(stdout.trim().split('\n')).toEqual([
    '120 products',
    expect.stringMatching(/^Product \d+: upvoted true, 1 upvotes$/),
    expect.stringMatching(/^My upvotes: product-\d+$/),
    'Commented: 201, then 200',
    'One comment: true',
    'Unchanged: true',
    'Problem: product_not_found',
  ]);
});

test('the types of the client refuse a path that the OpenAPI document lacks', async () => {
  const client = createApiClient(address);
  // @ts-expect-error the types do not contain this path
  const { response } = await client.GET('/api/launches');
  expect(response.status).toBe(404);
});
