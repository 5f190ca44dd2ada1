import { LRUCache } from 'lru-cache';
import { hasOnlyLanguageParam } from '../../contract/routes.ts';
import type { Change } from '../../core/changes/change-feed.ts';
import type { Dependencies, Freshness, Version } from './cached-response.ts';

/** A cached response under its key. */
export interface Entry {
  readonly key: string;
  state: EntryState;
  maxStaleMs: number;
}

/**
 * Clients can request any number of URLs with parameters, so these share this part of the memory, and evict only each
 * other.
 */
const QUERY_SHARE = 0.25;

/** Cache entries, found by key or by dependency; bounded by bytes, least recently used evicted first. */
export class EntryStore {
  readonly #plain: LRUCache<string, Entry>;
  readonly #queries: LRUCache<string, Entry>;
  readonly #byProduct = new Map<string, Set<Entry>>();
  readonly #ofCatalogue = new Set<Entry>();
  readonly #ofAllCounts = new Set<Entry>();

  constructor(maxBytes: number) {
    const cacheOf = (maxSize: number) =>
      new LRUCache<string, Entry>({
        maxSize: Math.max(1, Math.floor(maxSize)),
        sizeCalculation: ({ state }) => state.version.content.sizeBytes,
        onInsert: (entry) => this.#index(entry),
        dispose: (entry) => this.#unindex(entry),
      });
    this.#plain = cacheOf(maxBytes * (1 - QUERY_SHARE));
    this.#queries = cacheOf(maxBytes * QUERY_SHARE);
  }

  get bytes(): number {
    return this.#plain.calculatedSize + this.#queries.calculatedSize;
  }

  /** Finds an entry and marks it as used. */
  get(key: string): Entry | undefined {
    return this.#cacheOf(key).get(key);
  }

  /** Adds an entry, or replaces the one with the same key. */
  set(entry: Entry): void {
    this.delete(entry.key);
    this.#cacheOf(entry.key).set(entry.key, entry);
  }

  delete(key: string): void {
    this.#cacheOf(key).delete(key);
  }

  *all(): Iterable<Entry> {
    yield* this.#plain.values();
    yield* this.#queries.values();
  }

  /** The entries that a change affects. */
  dependents({ productIds, catalogue }: Change): Set<Entry> {
    const found = new Set<Entry>(this.#ofAllCounts);
    if (catalogue) for (const entry of this.#ofCatalogue) found.add(entry);
    for (const id of productIds) for (const entry of this.#byProduct.get(id) ?? []) found.add(entry);
    return found;
  }

  #cacheOf(key: string): LRUCache<string, Entry> {
    return hasOnlyLanguageParam(key) ? this.#plain : this.#queries;
  }

  #index(entry: Entry): void {
    for (const set of this.#setsOf(dependenciesOf(entry))) set.add(entry);
  }

  #unindex(entry: Entry): void {
    const dependencies = dependenciesOf(entry);
    for (const set of this.#setsOf(dependencies)) set.delete(entry);
    for (const id of dependencies.products) if (this.#byProduct.get(id)?.size === 0) this.#byProduct.delete(id);
  }

  *#setsOf({ products, catalogue, allCounts }: Dependencies): Iterable<Set<Entry>> {
    if (catalogue) yield this.#ofCatalogue;
    if (allCounts) yield this.#ofAllCounts;
    for (const id of products) {
      let set = this.#byProduct.get(id);
      if (set === undefined) {
        set = new Set();
        this.#byProduct.set(id, set);
      }
      yield set;
    }
  }
}

function dependenciesOf({ state }: Entry): Dependencies {
  return state.version.head.dependencies;
}

/**
 * The state of a cached response. Times are in milliseconds of the monotonic clock; ticks count events of the cache.
 */
export type EntryState =
  | { kind: 'fresh'; version: Version; changedTick: number }
  /** A dependency changed after `since`. */
  | { kind: 'stale'; version: Version; changedTick: number; since: number }
  /** The last revalidation failed (stale-if-error). */
  | { kind: 'failing'; version: Version; changedTick: number; since: number; failedAt: number };

export type EntryEvent =
  | { type: 'changed'; tick: number; at: number }
  | { type: 'produced'; version: Version }
  | { type: 'failed'; startedAt: number; at: number };

/** After a failure, the next attempt waits this long, so a recovering database is not flooded. */
const RETRY_INTERVAL_MS = 1_000;

/**
 * Rendering blocks the event loop: if revalidating a page takes 4% of the time, 99 of 100 requests do not notice it.
 */
const REVALIDATION_SHARE = 0.04;
const MAX_INTERVAL_MS = 750;

export function step(state: EntryState, event: EntryEvent): EntryState {
  switch (event.type) {
    case 'changed':
      return state.kind === 'fresh'
        ? { kind: 'stale', version: state.version, changedTick: event.tick, since: event.at }
        : { ...state, changedTick: event.tick };
    case 'produced': {
      const version = withOldContent(state.version, event.version);
      return stateOf(version, state.changedTick);
    }
    case 'failed': {
      const since = state.kind === 'fresh' ? event.startedAt : state.since;
      return { kind: 'failing', version: state.version, changedTick: state.changedTick, since, failedAt: event.at };
    }
  }
}

/** The state of a new version: a change during its production may or may not be in it. */
export function stateOf(version: Version, changedTick: number): EntryState {
  return version.startedTick > changedTick
    ? { kind: 'fresh', version, changedTick }
    : { kind: 'stale', version, changedTick, since: version.startedAt };
}

/** Unchanged content keeps its date and its compressed bytes. */
function withOldContent(old: Version, version: Version): Version {
  const isSame =
    version.head.status === old.head.status && version.content.tag('identity') === old.content.tag('identity');
  return isSame ? { ...version, content: old.content, contentSince: old.contentSince } : version;
}

/** The requirements of a request for its response. */
interface FreshnessRequirement {
  now: number;
  maxStaleMs: number;
  /** All writes up to this time must be visible. */
  notBefore: number;
}

/** Serve the version as current, serve it while the next one is produced, or wait for the next one. */
type Decision = 'hit' | 'stale' | 'wait';

export function decide(state: EntryState, { now, maxStaleMs, notBefore }: FreshnessRequirement): Decision {
  if (state.kind === 'failing') return 'stale';
  if (state.version.includesUpTo < notBefore) return 'wait';
  if (state.kind === 'fresh') return 'hit';
  return now - state.since < maxStaleMs ? 'stale' : 'wait';
}

/** When the next version may be produced in the background. */
export function nextRevalidationAt(state: EntryState, { minIntervalMs }: Freshness): number {
  if (state.kind === 'failing') return state.failedAt + RETRY_INTERVAL_MS;
  const { startedAt, tookMs } = state.version;
  if (minIntervalMs === 0) return startedAt;
  return startedAt + Math.max(minIntervalMs, Math.min(tookMs / REVALIDATION_SHARE, MAX_INTERVAL_MS));
}
