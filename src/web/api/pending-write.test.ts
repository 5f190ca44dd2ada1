import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createBrowserStorage } from '../../../tests/support/browser-storage.ts';
import { createWriteTracker, hasUnfinishedWrite, predatesWrite } from './http-api.ts';

beforeEach(() => {
  vi.stubGlobal('window', { sessionStorage: createBrowserStorage() });
  vi.stubGlobal('document', { hidden: false });
});

afterEach(() => {
  vi.unstubAllGlobals();
});

/** Continues as the next page, which shares the storage. */
function openNextPage(): void {
  vi.stubGlobal('performance', { timeOrigin: performance.timeOrigin + 1, now: () => 0 });
}

test('a pending write is reported to the next page, but not to the page that sent it', () => {
  createWriteTracker().track();
  expect(hasUnfinishedWrite()).toBe(false);
  openNextPage();
  expect(hasUnfinishedWrite()).toBe(true);
});

test('a write that fails because the visitor leaves the page is reported to the next page', () => {
  const settle = createWriteTracker().track();
  vi.stubGlobal('document', { hidden: true });
  settle();
  openNextPage();
  expect(hasUnfinishedWrite()).toBe(true);
});

test('a write of the next page does not remove the mark that the previous page left', () => {
  createWriteTracker().track();
  openNextPage();
  createWriteTracker().track()();
  expect(hasUnfinishedWrite()).toBe(true);
});

test('once all pending writes have completed, none is reported to the next page', () => {
  const writes = createWriteTracker();
  const settles = [writes.track(), writes.track()];
  settles[0]?.();
  settles[1]?.();
  openNextPage();
  expect(hasUnfinishedWrite()).toBe(false);
});

test('a write that completes after the next page was requested is reported to that page only', () => {
  const { timeOrigin } = performance;
  const requestedAt = (ms: number) => vi.stubGlobal('performance', { timeOrigin: timeOrigin + ms, now: () => 0 });
  expect(predatesWrite()).toBe(false);
  vi.stubGlobal('performance', { timeOrigin, now: () => 100 });
  createWriteTracker().track()();
  requestedAt(99);
  expect(predatesWrite()).toBe(true);
  requestedAt(101);
  expect(predatesWrite()).toBe(false);
});

test('a vote sent by the head script is not reported to its own page, and is pending until the response arrives', () => {
  window.sessionStorage.setItem('write_pending', String(performance.timeOrigin));
  expect(hasUnfinishedWrite()).toBe(false);
  expect(window.sessionStorage.getItem('write_pending')).not.toBeNull();
  createWriteTracker().track()();
  expect(window.sessionStorage.getItem('write_pending')).toBeNull();
});

test('without storage, no write is remembered, and no call fails', () => {
  vi.stubGlobal('window', {});
  createWriteTracker().track()();
  expect(hasUnfinishedWrite()).toBe(false);
});
