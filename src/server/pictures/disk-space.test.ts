import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createDiskSpaceCheck, createPictureProcessor } from './picture-pipeline.ts';

const GIB = 2 ** 30;
const log = { info: vi.fn(), warn: vi.fn() };
let parent: string;
let folder: string;

beforeEach(async () => {
  parent = await mkdtemp(join(tmpdir(), 'groundswell-disk-'));
  folder = join(parent, 'images');
  vi.clearAllMocks();
});
afterEach(() => rm(parent, { recursive: true }));

test.each([
  { all: 1_000, free: 1.1, isRefused: false },
  { all: 1_000, free: 0.9, isRefused: true },
  { all: 4, free: 0.5, isRefused: false },
  { all: 4, free: 0.3, isRefused: true },
  { all: 0, free: 0, isRefused: false },
])('a picture is refused if space is short ($free of $all GiB: $isRefused)', async ({ all, free, isRefused }) => {
  const check = createDiskSpaceCheck(folder, log, async () => ({ free: free * GIB, all: all * GIB }));
  const outcome = check().catch(({ code }: { code: string }) => code);
  expect(await outcome).toBe(isRefused ? 'overloaded' : undefined);
});

test('a picture is stored on a disk that cannot be measured', async () => {
  await createDiskSpaceCheck(folder, log, () => Promise.reject(new Error('ENOSYS')))();
});

test('the log contains each change between too little and enough free space once', async () => {
  let free = GIB;
  const check = createDiskSpaceCheck(folder, log, async () => ({ free, all: 100 * GIB }));
  await check();
  free = GIB - 1;
  for (let time = 0; time < 3; time += 1) await expect(check()).rejects.toMatchObject({ code: 'overloaded' });
  expect(log.warn).toHaveBeenCalledExactlyOnceWith({ folder, freeBytes: free }, expect.stringContaining('DATA_DIR'));
  expect(log.info).not.toHaveBeenCalled();
  free = GIB;
  for (let time = 0; time < 3; time += 1) await check();
  expect(log.info).toHaveBeenCalledExactlyOnceWith({ folder, freeBytes: free }, expect.stringContaining('again'));
  expect(log.warn).toHaveBeenCalledOnce();
});

test('the disk of the pictures is measured, even before the first picture', async () => {
  const measured: string[] = [];
  const pictures = createPictureProcessor({
    log,
    folder,
    async measureDisk(path) {
      measured.push(path, ...(await readdir(path)));
      return { free: 0, all: GIB };
    },
  });
  await expect(pictures.requireDiskSpace()).rejects.toMatchObject({ code: 'overloaded' });
  expect(measured).toEqual([folder]);
  await pictures.close();
});
