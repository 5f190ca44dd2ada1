import { afterEach, beforeEach, expect, vi } from 'vitest';

// A call of console.error fails the test. A test that expects a call installs its own spy, which replaces the spy
// below.
beforeEach(() => {
  vi.spyOn(console, 'error');
});

afterEach(() => {
  const spy = vi.mocked(console.error);
  expect(spy.mock?.calls ?? [], 'unexpected console.error').toEqual([]);
  vi.restoreAllMocks();
});
