import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { notePendingWrite, takePendingWrite } from './pending-write.ts';
import { createTestStorage } from './test-storage.ts';

beforeEach(() => {
  vi.stubGlobal('window', { sessionStorage: createTestStorage() });
});

afterEach(() => {
  vi.unstubAllGlobals();
});

test('a page that was left before the answer is known to the next, once', () => {
  const settle = notePendingWrite();
  expect(takePendingWrite()).toBe(true);
  expect(takePendingWrite()).toBe(false);
  settle();
});

test('the last answer of several takes the note back', () => {
  const settles = [notePendingWrite(), notePendingWrite()];
  settles[0]?.();
  settles[1]?.();
  expect(takePendingWrite()).toBe(false);
});

test('without storage nothing is remembered, and nothing fails', () => {
  vi.stubGlobal('window', {});
  notePendingWrite()();
  expect(takePendingWrite()).toBe(false);
});
