import { randomUUID } from 'node:crypto';
import { ResponseCache, type Served } from '../../src/server/cache/response-cache.ts';
import type { createResponseSource } from './response-source.ts';

export interface CacheHarness {
  cache: ResponseCache;
  warnings: unknown[];
  /** Returns the monotonic time in milliseconds. */
  clockMs(): number;
  /** Changes only the wall clock. */
  jumpWallClock(ms: number): void;
  sleep(ms: number): Promise<void>;
  /** Advances the monotonic clock and resumes the sleepers that are due. */
  advance(ms: number): Promise<void>;
}

/** Creates a response cache with a clock that only the test advances. */
export function createCacheHarness({
  maxBytes,
  otherProcessLagMs = 0,
}: {
  maxBytes?: number;
  otherProcessLagMs?: number;
} = {}): CacheHarness {
  let clockMs = 1_000_000;
  let wallMs = Date.parse('2026-06-01T12:00:00Z');
  let sleepers: { until: number; wake(): void }[] = [];
  const warnings: unknown[] = [];
  const sleep = (ms: number) => new Promise<void>((wake) => void sleepers.push({ until: clockMs + ms, wake }));
  const cache = new ResponseCache({
    log: { info: () => {}, warn: (about: unknown) => void warnings.push(about), error: () => {} },
    runtime: { now: () => new Date(wallMs), monotonicMs: () => clockMs, uuid: randomUUID },
    sleep,
    otherProcessLagMs,
    ...(maxBytes === undefined ? {} : { maxBytes }),
  });
  return {
    cache,
    warnings,
    sleep,
    clockMs: () => clockMs,
    jumpWallClock: (ms) => {
      wallMs += ms;
    },
    async advance(ms) {
      clockMs += ms;
      for (const { until, wake } of sleepers) if (until <= clockMs) wake();
      sleepers = sleepers.filter(({ until }) => until > clockMs);
      await runPendingTasks();
    },
  };
}

/** The cache of the current test, and its harness. */
export let cache: ResponseCache;
export let harness: CacheHarness;

/** Replaces the cache with a new one. */
export function useCache(options?: Parameters<typeof createCacheHarness>[0]): void {
  harness = createCacheHarness(options);
  ({ cache } = harness);
}

/** Delays the responses of a source until the returned function is called. */
export function hold(held: ReturnType<typeof createResponseSource>): () => void {
  let release = () => {};
  held.hold = new Promise<void>((resolve) => {
    release = () => {
      held.hold = undefined;
      resolve();
    };
  });
  return release;
}

/** Waits until all work that does not depend on the clock is done. */
export const runPendingTasks = () => new Promise(setImmediate);

export const textOf = ({ version }: Served) => String(version.content.bytes('identity'));
export const bodyOf = async (served: Promise<Served> | Served) => textOf(await served);
export const change = (...productIds: string[]) => ({ productIds, catalogue: false });
