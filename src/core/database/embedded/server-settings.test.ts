import { expect, test } from 'vitest';
import { availableMemoryBytes, initialSettings } from './server-settings.ts';

const GB = 1024 ** 3;

test.each<[machine: string, memory: number, buffers: string, cached: string]>([
  ['a small container', GB / 2, '128MB', '512MB'],
  ['a small server', 4 * GB, '512MB', '2048MB'],
  ['a large server', 64 * GB, '2048MB', '32768MB'],
])('shared buffers on %s take an eighth of the memory, within bounds', (_machine, memory, buffers, cached) => {
  expect(initialSettings(memory)).toEqual(
    expect.arrayContaining([`shared_buffers=${buffers}`, `effective_cache_size=${cached}`]),
  );
});

test('the available memory of this machine is detected', () => {
  expect(availableMemoryBytes()).toBeGreaterThan(GB / 16);
});
