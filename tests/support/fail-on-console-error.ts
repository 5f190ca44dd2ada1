import { afterEach, beforeEach, expect, vi } from 'vitest';

const { error } = console;
let calls: unknown[][] = [];

// A call of console.error fails the test. A test that expects a call installs its own spy, which receives the call
// instead. The recorder is not a spy, so tests that restore their spies do not remove it.
beforeEach(() => {
  calls = [];
  console.error = (...values) => {
    calls.push(values);
    error(...values);
  };
});

afterEach(() => {
  vi.restoreAllMocks();
  console.error = error;
  expect(calls, 'unexpected console.error').toEqual([]);
});
