import { mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { LocalPictures, MAX_PICTURE_BYTES } from './local-pictures.ts';
import { PICTURE_NAME, pictureKindOf } from './picture-store.ts';

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

let root: string;
let folder: string;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'groundswell-pictures-'));
  folder = join(root, 'pictures');
  await mkdir(join(folder, 'sub'), { recursive: true });
});
afterEach(() => rm(root, { recursive: true }));

test.each([
  ['png', PNG],
  ['jpg', Buffer.from([0xff, 0xd8, 0xff, 0xe0])],
  ['gif', Buffer.from('GIF89a')],
  ['webp', Buffer.from('RIFF\x00\x01\x00\x00WEBPVP8 ')],
  ['avif', Buffer.from('\x00\x00\x00\x1cftypavif')],
  ['svg', Buffer.from('\ufeff<?xml version="1.0"?>\n<!-- a > b -->\n<!DOCTYPE svg>\n<svg xmlns="…">')],
  [undefined, Buffer.from('<!doctype html><body><svg></svg>')],
  [undefined, Buffer.from('RIFF\x00\x01\x00\x00WAVEfmt ')],
  [undefined, Buffer.alloc(0)],
  ['svg', Buffer.from(`${'<!---->'.repeat(500)}<svg>`)],
  [undefined, Buffer.from('<!---->'.repeat(500))],
])('the format of a picture is determined by its content: %s', (kind, content) => {
  expect(pictureKindOf(content)).toBe(kind);
});

test('pictures are copied under hashes of their content, and identical pictures share a name', async () => {
  await writeFile(join(folder, 'a b.jpeg'), PNG);
  await writeFile(join(folder, 'sub', 'same.txt'), PNG);
  const pictures = await LocalPictures.open(folder);
  const address = await pictures.add('a b.jpeg');
  expect(await pictures.add('sub/../sub/same.txt')).toBe(address);
  const store = join(root, 'data', 'images');
  await pictures.copyTo(store);
  await pictures.copyTo(store);
  const [name = '', ...others] = await readdir(store);
  expect(others).toEqual([]);
  expect(name).toMatch(PICTURE_NAME);
  expect(address).toBe(`/images/${name}`);
  expect(await readFile(join(store, name))).toEqual(PNG);
  expect((await stat(join(store, name))).mode & 0o777).toBe(0o644 & ~process.umask());
});

test('no file outside the folder is read through `..`, a symbolic link or an absolute path', async () => {
  await writeFile(join(root, 'secret.png'), PNG);
  await symlink(join(root, 'secret.png'), join(folder, 'link.png'));
  await symlink(root, join(folder, 'up'));
  const pictures = await LocalPictures.open(folder);
  for (const name of [
    '../secret.png',
    'sub/../../secret.png',
    'link.png',
    'up/secret.png',
    join(root, 'secret.png'),
    '.',
  ]) {
    await expect(pictures.add(name), name).rejects.toThrow('is outside the picture folder');
  }
});

test('a missing file, a folder, a large picture and a file of another type are refused', async () => {
  await writeFile(join(folder, 'page.png'), '<html>');
  await writeFile(join(folder, 'large.png'), Buffer.concat([PNG, Buffer.alloc(MAX_PICTURE_BYTES)]));
  const pictures = await LocalPictures.open(folder);
  await expect(pictures.add('page.png')).rejects.toThrow('is not a PNG');
  await expect(pictures.add('large.png')).rejects.toThrow('larger than 5 MiB');
  await expect(pictures.add('sub')).rejects.toThrow('is not a file');
  await expect(pictures.add('missing.png')).rejects.toThrow('is not in the picture folder');
  await expect(pictures.add('nul\0.png')).rejects.toThrow('is not in the picture folder');
  await expect(LocalPictures.open(join(root, 'missing'))).rejects.toThrow(
    'does not exist, is not a folder, or is not accessible',
  );
  await expect(LocalPictures.open(join(folder, 'page.png'))).rejects.toThrow(
    'does not exist, is not a folder, or is not accessible',
  );
});

test('a picture that changes between the check and the copy is refused', async () => {
  await writeFile(join(folder, 'a.png'), PNG);
  const pictures = await LocalPictures.open(folder);
  await pictures.add('a.png');
  await writeFile(join(folder, 'a.png'), Buffer.concat([PNG, PNG]));
  await expect(pictures.copyTo(join(root, 'store'))).rejects.toThrow('changed');
  await expect(readdir(join(root, 'store'))).rejects.toThrow('ENOENT');
});
