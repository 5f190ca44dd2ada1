import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { addOperator } from '../support/operator.ts';
import { startTestSite, type TestSite } from '../support/test-site.ts';

let site: TestSite;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'groundswell-images-'));
  site = await startTestSite({ imagesDir: folder });
});
afterAll(async () => {
  await site.close();
  await rm(folder, { recursive: true });
});

test.each(['/assets/', '/assets/none.js', '/pictures/', '/pictures/none.webp', '/images/none.webp'])(
  '%s responds with the 404 page and the content security policy of pages',
  async (url) => {
    const { statusCode, headers, payload } = await site.ask.get(url);
    expect([statusCode, headers['content-type']]).toEqual([404, 'text/html; charset=utf-8']);
    expect(payload).toContain('<!doctype html>');
    expect(headers['content-security-policy']).toMatch(/^default-src 'self'/);
  },
);

test.each(['/favicon.svg', '/pictures/avatar-default.svg'])(
  '%s is sent whole, even if a range is requested',
  async (url) => {
    const { statusCode, headers } = await site.ask.get(url, { range: 'bytes=0-1' });
    expect(statusCode).toBe(200);
    expect(headers).not.toHaveProperty('accept-ranges');
  },
);

test.each([
  ['png', 'image/png'],
  ['jpg', 'image/jpeg'],
  ['svg', 'image/svg+xml'],
])('a stored picture with the extension %s is sent as %s, and may be cached forever', async (extension, mediaType) => {
  const name = `${'1'.repeat(40)}.${extension}`;
  await writeFile(join(folder, name), 'picture');
  const { statusCode, headers, payload } = await site.ask.get(`/images/${name}`);
  expect([statusCode, payload]).toEqual([200, 'picture']);
  expect(headers).toMatchObject({
    'content-type': mediaType,
    'content-length': '7',
    etag: `"${name}"`,
    'cache-control': 'public, max-age=31536000, immutable',
    'content-security-policy': expect.stringContaining('sandbox'),
  });
  const again = await site.ask.get(`/images/${name}`, { 'if-none-match': String(headers.etag) });
  expect([again.statusCode, again.payload, again.headers.etag]).toEqual([304, '', headers.etag]);
  const head = await site.app.inject({ method: 'HEAD', url: `/images/${name}` });
  expect([head.statusCode, head.payload, head.headers['content-type']]).toEqual([200, '', mediaType]);
});

test.runIf(process.platform !== 'win32')('a symbolic link among the stored pictures is not followed', async () => {
  const name = `${'2'.repeat(40)}.png`;
  await writeFile(join(folder, 'secret'), 'secret');
  await symlink(join(folder, 'secret'), join(folder, name));
  const { statusCode, payload } = await site.ask.get(`/images/${name}`);
  expect(statusCode).toBe(404);
  expect(payload).not.toContain('secret');
});

test('assets of a newer build that are added while the site runs are served, as a rolling restart requires', async () => {
  const [clientDir, consoleDir] = [join(folder, 'client'), join(folder, 'console')];
  for (const build of [clientDir, consoleDir]) await mkdir(join(build, 'assets'), { recursive: true });
  const running = await startTestSite({ clientDir, consoleDir, cacheEnabled: true });
  try {
    await addOperator(running);
    for (const [build, url] of [
      [clientDir, '/assets/app-later.js'],
      [consoleDir, '/console/assets/app-later.js'],
    ] as const) {
      expect((await running.ask.get(url)).statusCode, url).toBe(404);
      const path = join(build, 'assets/app-later.js');
      await writeFile(path, 'later');
      await writeFile(`${path}.br`, 'compressed');
      const { statusCode, payload } = await running.ask.get(url);
      expect([statusCode, payload], url).toEqual([200, 'later']);
      const compressed = await running.ask.get(url, { 'accept-encoding': 'br' });
      expect([compressed.headers['content-encoding'], compressed.payload], url).toEqual(['br', 'compressed']);
    }
  } finally {
    await running.close();
  }
});
