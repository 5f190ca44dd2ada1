import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { writerTo } from './downloads.ts';

const PART = 'x'.repeat(100_000);

test('a download to a slow client waits after each part, and adds no listeners', async () => {
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

test('when the client disconnects, the waiting part and all further parts of a download are rejected', async () => {
  const file = new PassThrough();
  const write = writerTo(file);
  const written = write(PART);
  file.destroy();
  await expect(written).rejects.toThrow('aborted');
  await expect(write(PART)).rejects.toThrow('The download was cancelled');
});
