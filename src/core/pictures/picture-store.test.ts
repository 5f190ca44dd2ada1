import {
  chown,
  type FileHandle,
  mkdtemp,
  open,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { pictureName, storePicture, touchPicture } from './picture-store.ts';

test.skipIf(process.platform === 'win32')(
  'storing a picture syncs the complete file, and then its folder, to disk',
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'groundswell-pictures-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const content = Buffer.from('picture');
    const name = pictureName(content, 'webp');
    const probe = await open(folder);
    const synced: unknown[] = [];
    const sync = vi.spyOn(Object.getPrototypeOf(probe), 'sync').mockImplementation(async function (this: FileHandle) {
      const status = await this.stat();
      synced.push(status.isDirectory() ? await readdir(folder) : status.size);
    });
    onTestFinished(() => sync.mockRestore());
    await probe.close();
    await storePicture(folder, name, content);
    expect(synced).toEqual([content.length, [name]]);
  },
);

const isRoot = process.geteuid?.() === 0;
/** The user and group `nobody`, to whom only root may give files. */
const nobody = { uid: 65534, gid: 65534 };

async function makeDataDir(): Promise<string> {
  const dataDir = await mkdtemp(join(tmpdir(), 'groundswell-pictures-'));
  onTestFinished(() => rm(dataDir, { recursive: true }));
  if (isRoot) await chown(dataDir, nobody.uid, nobody.gid);
  return dataDir;
}

test.runIf(isRoot)('a picture that root stores, and its folder, belong to the owner of the data folder', async () => {
  const folder = join(await makeDataDir(), 'images');
  await storePicture(folder, 'a.webp', Buffer.from('first'));
  await storePicture(folder, 'b.webp', Buffer.from('second'));
  expect(await readdir(folder)).toEqual(['a.webp', 'b.webp']);
  for (const path of [folder, join(folder, 'a.webp'), join(folder, 'b.webp')])
    expect(await stat(path)).toMatchObject(nobody);
});

test('storing a picture again replaces a damaged file', async () => {
  const folder = join(await makeDataDir(), 'images');
  await storePicture(folder, 'a.webp', Buffer.from('first'));
  await writeFile(join(folder, 'a.webp'), Buffer.alloc(5));
  await storePicture(folder, 'a.webp', Buffer.from('first'));
  expect(await readFile(join(folder, 'a.webp'), 'utf8')).toBe('first');
});

test.runIf(isRoot)('a picture owned by another user can be stored and used again', async () => {
  const folder = join(await makeDataDir(), 'images');
  for (const name of ['a.webp', 'b.webp']) {
    await storePicture(folder, name, Buffer.from(name));
    await chown(join(folder, name), 0, 0);
    await utimes(join(folder, name), 0, 0);
  }
  process.seteuid?.(nobody.uid);
  onTestFinished(() => process.seteuid?.(0));
  await storePicture(folder, 'a.webp', Buffer.from('a.webp'));
  expect(await touchPicture(folder, 'b.webp')).toBe(true);
  for (const name of ['a.webp', 'b.webp']) {
    expect(await readFile(join(folder, name), 'utf8')).toBe(name);
    expect((await stat(join(folder, name))).mtimeMs).toBeGreaterThan(0);
  }
});

test.runIf(isRoot)(
  'a picture that is stored through a link belongs to the owner of the folder that the link refers to',
  async () => {
    const dataDir = await makeDataDir();
    const elsewhere = await mkdtemp(join(tmpdir(), 'groundswell-pictures-'));
    onTestFinished(() => rm(elsewhere, { recursive: true }));
    await symlink(elsewhere, join(dataDir, 'images'));
    await storePicture(join(dataDir, 'images'), 'a.webp', Buffer.from('picture'));
    const { uid } = await stat(elsewhere);
    expect(await stat(join(elsewhere, 'a.webp'))).toMatchObject({ uid });
  },
);
