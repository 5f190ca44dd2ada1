import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { writerTo } from './downloads.ts';

const PART = 'x'.repeat(100_000);

test('a download that is read slowly waits for each part, and adds no listeners', async () => {
  const file = new PassThrough();
  const write = writerTo(file);
  const listeners = () => file.eventNames().map((name) => [name, file.listenerCount(name)]);
  const before = listeners();
  for (let parts = 0; parts < 20; parts += 1) {
    const written = write(PART);
    expect(file.writableNeedDrain).toBe(true);
    expect(file.read()).toHaveLength(PART.length);
    await written;
  }
  expect(listeners()).toEqual(before);
});

test('a waiting part of a download is rejected when the client leaves, and so are further parts', async () => {
  const file = new PassThrough();
  const write = writerTo(file);
  const written = write(PART);
  file.destroy();
  await expect(written).rejects.toThrow('aborted');
  await expect(write(PART)).rejects.toThrow('The download was cancelled');
});
