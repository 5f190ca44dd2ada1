import { mkdir, mkdtemp, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { MAX_PICTURE_BYTES } from '../../core/pictures/local-pictures.ts';
import { ownPictures } from './own-pictures.ts';

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'groundswell-pictures-'));
  await mkdir(join(folder, 'pictures', 'git'), { recursive: true });
  await writeFile(join(folder, 'secret'), 'secret');
  await writeFile(join(folder, 'pictures', 'git', 'a tile.svg'), 'tile');
  await symlink(join(folder, 'secret'), join(folder, 'pictures', 'link.png'));
  for (const [name, bytes] of [
    ['largest.png', MAX_PICTURE_BYTES],
    ['too-large.png', MAX_PICTURE_BYTES + 1],
  ] as const) {
    await writeFile(join(folder, 'pictures', name), '');
    await truncate(join(folder, 'pictures', name), bytes);
  }
});

afterAll(() => rm(folder, { recursive: true }));

const read = async (address: string) =>
  (await ownPictures({ '/pictures/': join(folder, 'pictures'), '/images/': undefined })(address))?.toString();

test('a picture in a folder of the site is read', async () => {
  expect(await read('/pictures/git/a%20tile.svg?v=2')).toBe('tile');
});

test('a picture of the maximum size for imports is read', async () => {
  expect(await read('/pictures/largest.png')).toHaveLength(MAX_PICTURE_BYTES);
});

test.each([
  '',
  'https://example.com/pictures/git/a%20tile.svg',
  '//example.com/pictures/git.svg',
  'file:///etc/hostname',
  'data:image/svg+xml,<svg/>',
  '/pictures/../secret',
  '/pictures/%2e%2e/secret',
  '/pictures/..%2Fsecret',
  '/pictures/git/../../secret',
  '/pictures//../../secret',
  '/pictures/git',
  '/images/a.png',
  '/pictures/',
  '/pictures/none.svg',
  '/pictures/%00',
  '/pictures/%E0%A4%A',
  '/pictures/too-large.png',
  '/pictures/link.png',
])('no picture is read for %j', async (address) => {
  expect(await read(address)).toBeUndefined();
});
