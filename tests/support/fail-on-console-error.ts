import { afterEach, beforeEach, expect, vi } from 'vitest';

// An unexpected console.error is a fault. A test that expects one spies on it itself, which replaces this spy.
beforeEach(() => {
  vi.spyOn(console, 'error');
});

afterEach(() => {
  const spy = vi.mocked(console.error);
  expect(spy.mock?.calls ?? [], 'unexpected console.error').toEqual([]);
  vi.restoreAllMocks();
});
