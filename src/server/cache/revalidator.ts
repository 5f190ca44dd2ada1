import { CoreError } from '../../core/core-error.ts';
import type { Log, Runtime } from '../../core/runtime.ts';
import { Representations } from '../http/representations.ts';
import {
  type CacheableResponse,
  type CachedHead,
  type CacheRequest,
  type Dependencies,
  type EntryState,
  mayReplace,
  NO_WRITE,
  type RevalidationReason,
  stateOf,
  step,
  type Version,
} from './cached-response.ts';
import type { EntryStore } from './entry-store.ts';

/** The parts of a version that are known when its revalidation starts. */
type VersionStart = Pick<Version, 'contentSince' | 'startedAt' | 'startedTick' | 'includesUpTo'>;

interface RunningRevalidation {
  kind: 'running';
  /** The request that started the revalidation. */
  request: CacheRequest;
  start: VersionStart;
  outcome: Promise<Outcome>;
}

type Revalidation = { kind: 'scheduled' } | RunningRevalidation;

/** The state after the revalidation, or its error if there is no version to serve. */
type Outcome = { state: EntryState } | { error: unknown };

interface RevalidatorOptions {
  log: Log;
  runtime: Runtime;
  otherProcessLagMs: number;
  sleep: (ms: number) => Promise<void>;
}

/**
 * Produces and stores the versions of responses. Producing any version, even the first, is called revalidation.
 * Requests with the same key share one revalidation at a time.
 */
export class Revalidator {
  readonly #store: EntryStore;
  readonly #options: RevalidatorOptions;
  readonly #byKey = new Map<string, Revalidation>();

  constructor(store: EntryStore, options: RevalidatorOptions) {
    this.#store = store;
    this.#options = options;
  }

  /** Returns whether a revalidation is scheduled or running. */
  has(key: string): boolean {
    return this.#byKey.has(key);
  }

  isRunning(key: string): boolean {
    return this.#running(key) !== undefined;
  }

  /** Starts a revalidation after a delay, unless `waitFor` starts one earlier. */
  schedule(request: CacheRequest, delayMs: number): void {
    if (delayMs <= 0) return void this.#start(request);
    const scheduled: Revalidation = { kind: 'scheduled' };
    this.#byKey.set(request.key, scheduled);
    void this.#options.sleep(delayMs).then(() => {
      if (this.#byKey.get(request.key) === scheduled) this.#start(request);
    });
  }

  /**
   * Waits for a version that includes the visitor's own writes and all changes up to `minTick`. Starts a revalidation
   * if none is running; the caller must have charged the request for it. If the revalidation fails, the last good
   * version is returned. If it fails because the client that started it is over its limit, a request from another
   * client starts the next one.
   * @throws the error of `produce` if there is no good version, or the error of `charge`.
   */
  async waitFor(request: CacheRequest, minTick: number): Promise<EntryState> {
    const { key, notBefore = NO_WRITE } = request;
    let revalidation = this.#running(key) ?? this.#start(request);
    for (;;) {
      const { start, outcome } = revalidation;
      const result = await outcome;
      // A fresh response is complete: no known change since its revalidation began affects it.
      const isComplete = start.startedTick >= minTick || ('state' in result && result.state.kind === 'fresh');
      const isNewEnough = start.includesUpTo >= notBefore && isComplete;
      const isOthersRefusal = revalidation.request !== request && 'error' in result && isRefusal(result.error);
      if ('state' in result) {
        if (isNewEnough || result.state.kind === 'failing') return result.state;
      } else if (isNewEnough && !isOthersRefusal) throw result.error;
      const next = this.#running(key);
      try {
        // The request has not been charged yet, because it shared a revalidation. Now it starts its own.
        if (next === undefined) request.charge?.(reasonToRevalidate(isOthersRefusal, isComplete));
      } catch (refusal) {
        if (isOthersRefusal || !isComplete) throw refusal;
        if ('error' in result) throw result.error;
        return result.state;
      }
      revalidation = next ?? this.#start(request);
    }
  }

  #running(key: string): RunningRevalidation | undefined {
    const revalidation = this.#byKey.get(key);
    return revalidation?.kind === 'running' ? revalidation : undefined;
  }

  #start(request: CacheRequest): RunningRevalidation {
    const { key, notBefore = NO_WRITE } = request;
    const { runtime, otherProcessLagMs } = this.#options;
    const startedAt = runtime.monotonicMs();
    const start: VersionStart = {
      contentSince: runtime.now().getTime(),
      startedAt,
      startedTick: this.#store.tick,
      // Reads for a visitor who has just written include that write, even if they use a replica.
      includesUpTo: Math.max(notBefore, startedAt - otherProcessLagMs),
    };
    const outcome = this.#produce(request, start).finally(() => this.#byKey.delete(key));
    const revalidation: RunningRevalidation = { kind: 'running', request, start, outcome };
    this.#byKey.set(key, revalidation);
    return revalidation;
  }

  async #produce(request: CacheRequest, start: VersionStart): Promise<Outcome> {
    // Yields, so a request that gets an older version is served before the revalidation begins.
    await Promise.resolve();
    try {
      return { state: this.#finish(request, await request.produce(), start) };
    } catch (error) {
      return this.#fail(request.key, error, start);
    }
  }

  #finish({ key, freshness }: CacheRequest, { body, ...head }: CacheableResponse, start: VersionStart): EntryState {
    const { runtime } = this.#options;
    const old = this.#store.get(key);
    if (old !== undefined && !mayReplace(head, old.state, runtime.monotonicMs())) {
      throw new Error(head.isIncomplete ? 'The response is incomplete' : `The response has status ${head.status}`);
    }
    const version: Version = {
      ...start,
      head,
      content: new Representations(body),
      tookMs: runtime.monotonicMs() - start.startedAt,
    };
    // Changes during the revalidation were matched against the old version's dependencies. If the new version has
    // further dependencies, any of those changes may have affected it.
    const { tick } = this.#store;
    const previous =
      old && !includesAll(old.state.version.head.dependencies, head.dependencies)
        ? step(old.state, { type: 'changed', tick, at: start.startedAt })
        : old?.state;
    let state = previous ? step(previous, { type: 'produced', version }) : stateOf(version, tick);
    // An incomplete response is retried after the same delay as a failure.
    if (head.isIncomplete) {
      state = step(state, { type: 'failed', startedAt: start.startedAt, at: runtime.monotonicMs() });
    }
    if (isStorable(head)) this.#store.set({ key, state, maxStaleMs: freshness.maxStaleMs });
    else this.#store.delete(key);
    return state;
  }

  #fail(key: string, error: unknown, { startedAt }: VersionStart): Outcome {
    if (isResponseError(error)) this.#store.delete(key);
    const entry = this.#store.get(key);
    if (entry === undefined) return { error };
    const { log, runtime } = this.#options;
    if (entry.state.kind !== 'failing') {
      // The query may contain a visitor's search term.
      log.warn({ err: error, key: key.split('?', 1)[0] }, 'Cannot revalidate a response; serving the last good one');
    }
    entry.state = step(entry.state, { type: 'failed', startedAt, at: runtime.monotonicMs() });
    return { state: entry.state };
  }
}

/** Returns why a request that waited for a revalidation needs another one. */
function reasonToRevalidate(isOthersRefusal: boolean, isComplete: boolean): RevalidationReason {
  if (isOthersRefusal) return 'miss';
  // A complete response is too old only for a visitor who claims to have written since.
  return isComplete ? 'claim' : 'expired';
}

/**
 * Returns whether an entry with the given dependencies has recorded every change that affects the `wanted` ones. With
 * `allCounts`, this is unknown, because an entry that is already stale records no further changes of counts.
 */
function includesAll({ products, catalogue, allCounts }: Dependencies, wanted: Dependencies): boolean {
  if (allCounts || wanted.allCounts || (wanted.catalogue && !catalogue)) return false;
  const ids = new Set(products);
  return wanted.products.every((id) => ids.has(id));
}

/**
 * Returns whether to store a response. Unfinished lists are not stored, nor are 404 responses for arbitrary ids, which
 * would evict other responses. The 404 page that all unknown paths share is stored.
 */
function isStorable({ status, dependencies }: CachedHead): boolean {
  return (status === 200 && !dependencies.unfinished) || (status === 404 && dependencies.products.length === 0);
}

/** Returns whether an error concerns only one client, which is over its limit. */
function isRefusal(error: unknown): boolean {
  return error instanceof CoreError && error.code === 'rate_limited';
}

/** Returns whether an error is itself the response, such as an unknown product, and not a failure to produce it. */
function isResponseError(error: unknown): boolean {
  return error instanceof CoreError && error.code !== 'unavailable' && error.code !== 'overloaded';
}
