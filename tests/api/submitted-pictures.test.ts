import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ProductDetails } from '../../src/contract/console/records.ts';
import type { CreatedSubmission, SubmissionResponse } from '../../src/contract/submissions/schema.ts';
import { approveSubmission } from '../../src/core/submissions/decide-submission.ts';
import { createPictureProcessor, type PictureProcessor } from '../../src/server/pictures/picture-pipeline.ts';
import { pidsOfChildren } from '../support/child-processes.ts';
import { expectProblem } from '../support/expect-problem.ts';
import { addOperator } from '../support/operator.ts';
import { buildPng, ZIP } from '../support/picture-bytes.ts';
import { newVisitor } from '../support/requests.ts';
import { startTestSite, type TestSite } from '../support/test-site.ts';

let folder: string;
let pictures: PictureProcessor;
let site: TestSite;
let address: string;
/** The process ids of the picture workers that other test files started in this process. */
let otherWorkers: number[];

beforeAll(async () => {
  if (process.platform === 'linux') otherWorkers = await pidsOfChildren('picture-worker');
  folder = await mkdtemp(join(tmpdir(), 'groundswell-submitted-'));
  pictures = createPictureProcessor({ log: { info() {}, warn() {} }, folder, timeoutMs: 120_000 });
  site = await startTestSite({ submittedPictures: pictures, imagesDir: folder, trustProxy: () => true });
  address = await site.app.listen({ port: 0 });
});
afterAll(async () => {
  await site.close();
  await pictures.close();
  await rm(folder, { recursive: true });
});

async function submit(name: string): Promise<{ id: string; key: string }> {
  const response = await site.ask.post('/api/submissions', { name }, newVisitor());
  const { submission, makerKey } = response.json() as CreatedSubmission;
  return { id: submission.id, key: makerKey };
}

interface Upload {
  key: string;
  bytes: Buffer;
  type?: string;
  method?: 'PUT' | 'POST';
}

const upload = (path: string, { key, bytes, type = 'image/png', method = 'PUT' }: Upload) =>
  site.app.inject({
    method,
    url: `/api/submissions/${path}`,
    payload: bytes,
    headers: { authorization: `Bearer ${key}`, 'content-type': type },
  });

const photo = (width: number, height: number) =>
  sharp({ create: { width, height, channels: 3, background: '#37a' } })
    .withExif({ IFD0: { Copyright: 'Secret' } })
    .jpeg()
    .toBuffer();

test('an image and screenshots are processed, stored and served as WebP', async () => {
  const { id, key } = await submit('Lighthouse');
  const type = 'image/jpeg';
  await upload(`${id}/image`, { key, type, bytes: await photo(900, 600) });
  const response = await upload(`${id}/screenshots`, { key, type, bytes: await photo(3_200, 2_000), method: 'POST' });
  const { product } = (response.json() as SubmissionResponse).submission;
  expect([product.image, ...product.screenshots]).toEqual([
    expect.stringMatching(/^\/images\/[0-9a-f]{40}\.webp$/),
    expect.stringMatching(/^\/images\/[0-9a-f]{40}\.webp$/),
  ]);
  for (const [path, width, height] of [
    [product.image, 512, 512],
    [product.screenshots[0] ?? '', 1_600, 1_000],
  ] as const) {
    const served = await site.ask.get(path);
    expect(served.headers).toMatchObject({
      'content-type': 'image/webp',
      'cache-control': 'public, max-age=31536000, immutable',
      'content-security-policy': expect.stringContaining("default-src 'none'"),
    });
    expect(await sharp(served.rawPayload).metadata()).toMatchObject({ width, height, format: 'webp' });
    expect(served.rawPayload.includes('Secret')).toBe(false);
  }
});

test('a refused picture changes neither the submission nor the stored pictures', async () => {
  const { id, key } = await submit('Breakwater');
  const before = await readdir(folder);
  const png = buildPng({ width: 9, height: 9 });
  const polyglot = await upload(`${id}/image`, { key, bytes: Buffer.concat([png, ZIP]) });
  expectProblem(polyglot, 422, 'picture_unusable', /also a ZIP archive/);
  expectProblem(await upload(`${id}/image`, { key, bytes: Buffer.alloc(0) }), 422, 'picture_unusable', /is empty/);
  const lying = await upload(`${id}/image`, { key, bytes: png, type: 'image/gif' });
  expectProblem(lying, 415, 'unsupported_media_type', /is a PNG, but was sent as GIF/);
  const svg = await upload(`${id}/image`, { key, bytes: Buffer.from('<svg/>'), type: 'image/svg+xml' });
  expectProblem(svg, 415, 'unsupported_media_type');
  const large = await upload(`${id}/image`, { key, bytes: Buffer.concat([png, Buffer.alloc(5 * 1024 * 1024)]) });
  expectProblem(large, 413, 'body_too_large', /5 MiB/);
  expect(await readdir(folder)).toEqual(before);
  const response = await site.ask.get(`/api/submissions/${id}`, { authorization: `Bearer ${key}` });
  expect((response.json() as SubmissionResponse).submission).toMatchObject({ revision: 1 });
});

test.each(['waiting', 'scheduled'])(
  'a screenshot beyond the limit of a %s product is refused before it is stored',
  async (status) => {
    const { id, key } = await submit(`Harbour ${status}`);
    const screenshots = Array.from({ length: 50 }, (_, index) => `/images/${index}.webp`);
    if (status === 'waiting') {
      const fields = JSON.stringify({ screenshots });
      await site.database.query('UPDATE submissions SET fields = fields || $2::jsonb WHERE id = $1', [id, fields]);
    } else {
      await site.database.query("UPDATE submissions SET launch_at = now() + interval '1 hour' WHERE id = $1", [id]);
      await approveSubmission(site.database, { id }, { now: new Date(), timeZone: 'UTC' });
      await site.database.query('UPDATE products SET screenshots = $2::text[] WHERE id = $1', [id, screenshots]);
    }
    const before = await readdir(folder);
    // Each test sends a different picture, because identical pictures share a file.
    const bytes = buildPng({ width: 8, height: status.length });
    const refused = await upload(`${id}/screenshots`, { key, bytes, method: 'POST' });
    expect(refused.json()).toMatchObject({ status: 422, code: 'submission_invalid' });
    expect(await readdir(folder)).toEqual(before);
  },
);

test('a screenshot is not removed if the request names an outdated version of the submission or product', async () => {
  const { id, key } = await submit('Pier');
  for (const width of [21, 22, 23])
    await upload(`${id}/screenshots`, { key, bytes: buildPng({ width, height: 9 }), method: 'POST' });
  const remove = (version: string) =>
    site.app.inject({
      method: 'DELETE',
      url: `/api/submissions/${id}/screenshots/1?${version}`,
      headers: { authorization: `Bearer ${key}` },
    });
  expectProblem(await remove('revision=4&productVersion=old'), 409, 'submission_changed');
  const removed = (await remove('revision=4')).json() as SubmissionResponse;
  expect(removed.submission).toMatchObject({ revision: 5, product: { screenshots: { length: 2 } } });
  expectProblem(await remove('revision=4'), 409, 'submission_changed');
});

test('a picture is refused with a wrong maker key', async () => {
  const { id } = await submit('Jetty');
  const refused = await upload(`${id}/image`, { key: 'A'.repeat(43), bytes: buildPng({ width: 9, height: 9 }) });
  expectProblem(refused, 404, 'submission_not_found');
});

test('an operator can replace the image of a product in the console, and undo the change', async () => {
  const operator = await addOperator(site);
  const { id, image } = await site.addProduct();
  const response = await operator.ask('POST', '/pictures/image', await photo(900, 600), {
    'content-type': 'image/jpeg',
  });
  expect(response.statusCode).toBe(201);
  const { address: uploaded } = response.json() as { address: string };
  expect((await site.ask.get(uploaded)).headers['content-type']).toBe('image/webp');
  const imageOf = async () => (await operator.json<ProductDetails>('GET', `/products/${id}`)).product.image;
  expect(await imageOf()).toBe(image);
  const { version } = await operator.json<ProductDetails>('GET', `/products/${id}`);
  await operator.json('PATCH', `/products/${id}`, { version, values: { image: uploaded } });
  expect(await imageOf()).toBe(uploaded);
  const entry = await operator.lastEntry();
  expect(entry).toMatchObject({
    action: 'products edit',
    details: { before: { image }, after: { image: uploaded } },
  });
  expect((await operator.undo(entry)).statusCode).toBe(200);
  expect(await imageOf()).toBe(image);
});

test('only a signed-in operator can upload pictures in the console', async () => {
  const operator = await addOperator(site, 'grace');
  const send = (headers: Record<string, string>) =>
    site.app.inject({
      method: 'POST',
      url: '/api/console/pictures/image',
      payload: buildPng({ width: 9, height: 9 }),
      headers: { 'content-type': 'image/png', ...headers },
    });
  expectProblem(await send({ 'sec-fetch-site': 'same-origin' }), 401, 'not_signed_in');
  expect((await send({ 'sec-fetch-site': 'cross-site', cookie: operator.cookie })).statusCode).toBe(403);
});

test('pages are served while the picture worker is suspended and a hundred uploads from many networks arrive', async ({
  skip,
}) => {
  skip(process.platform !== 'linux');
  const { id, key } = await submit('Swell');
  const bytes = buildPng({ width: 4_000, height: 4_000 });
  await upload(`${id}/image`, { key, bytes });
  const workers = await pidsOfChildren('picture-worker');
  const worker = workers.find((each) => !otherWorkers.includes(each)) ?? expect.unreachable();
  process.kill(worker, 'SIGSTOP');
  const outcomes: { status: number; retryAfter: string | null }[] = [];
  const uploads = Array.from({ length: 100 }, async (_, index) => {
    const response = await fetch(`${address}/api/submissions/${id}/image`, {
      method: 'PUT',
      body: Uint8Array.from(bytes),
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'image/png',
        'x-forwarded-for': `203.0.${index}.1`,
      },
    });
    await response.arrayBuffer();
    outcomes.push({ status: response.status, retryAfter: response.headers.get('retry-after') });
  });
  await expect.poll(() => outcomes.length).toBe(76);
  for (let page = 0; page < 20; page += 1) {
    const response = await fetch(`${address}/?tag=${page}`);
    expect(response.status).toBe(200);
    await response.arrayBuffer();
  }
  expect(outcomes).toEqual(Array(76).fill({ status: 503, retryAfter: '2' }));
  process.kill(worker, 'SIGCONT');
  await Promise.all(uploads);
  expect(outcomes.slice(76)).toEqual(Array(24).fill({ status: 200, retryAfter: null }));
});
