import { type FileHandle, mkdtemp, open, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { pictureName, storePicture } from './picture-store.ts';

test.skipIf(process.platform === 'win32')(
  'a stored picture and its name are on the disk, not only in memory',
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'groundswell-pictures-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const content = Buffer.from('picture');
    const name = pictureName(content, 'webp');
    const probe = await open(folder);
    const synced: unknown[] = [];
    const sync = vi.spyOn(Object.getPrototypeOf(probe), 'sync').mockImplementation(async function (this: FileHandle) {
      synced.push((await this.stat()).isDirectory() ? await readdir(folder) : 'file');
    });
    onTestFinished(() => sync.mockRestore());
    await probe.close();
    await storePicture(folder, name, content);
    expect(synced).toEqual(['file', [name]]);
  },
);
