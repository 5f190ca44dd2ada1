import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createBrowserStorage } from '../../../tests/support/browser-storage.ts';
import { createWriteTracker, takeUnfinishedWrite } from './http-api.ts';

beforeEach(() => {
  vi.stubGlobal('window', { sessionStorage: createBrowserStorage() });
});

afterEach(() => {
  vi.unstubAllGlobals();
});

test('a write that was pending when the visitor left the page is reported to the next page once', () => {
  const settle = createWriteTracker().track();
  expect(takeUnfinishedWrite()).toBe(true);
  expect(takeUnfinishedWrite()).toBe(false);
  settle();
});

test('the last of several responses removes the mark of pending writes', () => {
  const writes = createWriteTracker();
  const settles = [writes.track(), writes.track()];
  settles[0]?.();
  settles[1]?.();
  expect(takeUnfinishedWrite()).toBe(false);
});

test('a vote that the head script sent from this page is not reported, and stays marked until its response', () => {
  window.sessionStorage.setItem('write_pending', String(performance.timeOrigin));
  expect(takeUnfinishedWrite()).toBe(false);
  expect(window.sessionStorage.getItem('write_pending')).not.toBeNull();
  createWriteTracker().track()();
  expect(window.sessionStorage.getItem('write_pending')).toBeNull();
});

test('without storage, no write is remembered, and no call fails', () => {
  vi.stubGlobal('window', {});
  createWriteTracker().track()();
  expect(takeUnfinishedWrite()).toBe(false);
});
