import { LRUCache } from 'lru-cache';
import { hasOnlyLanguageParam } from '../../contract/routes.ts';
import type { Change } from '../../core/changes/change-feed.ts';
import { type Dependencies, type EntryState, step } from './cached-response.ts';

export interface Entry {
  readonly key: string;
  state: EntryState;
  maxStaleMs: number;
}

/**
 * The fraction of the memory for URLs with parameters other than `lang`. Clients can request any number of such URLs,
 * so their responses evict only each other.
 */
const QUERY_SHARE = 0.25;

/**
 * Cache entries, indexed by key and by dependency. Their total size in bytes is limited; the least recently used
 * entries are evicted first.
 */
export class EntryStore {
  readonly #plain: LRUCache<string, Entry>;
  readonly #queries: LRUCache<string, Entry>;
  readonly #byProduct = new Map<string, Set<Entry>>();
  readonly #ofCatalogue = new Set<Entry>();
  /**
   * Entries that depend on all counts, so any change makes them stale. The change also removes them from this set,
   * because marking thousands of stale entries again with each change would be slow.
   */
  readonly #ofAllCounts = new Set<Entry>();
  #tick = 0;

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

  /** The number of changes so far. Unlike times, it orders changes and revalidations within a millisecond. */
  get tick(): number {
    return this.#tick;
  }

  /** Marks all entries affected by a change as stale. */
  invalidate({ productIds, catalogue }: Change, at: number): void {
    const dependents = new Set<Entry>(this.#ofAllCounts);
    this.#ofAllCounts.clear();
    if (catalogue) for (const entry of this.#ofCatalogue) dependents.add(entry);
    for (const id of productIds) for (const entry of this.#byProduct.get(id) ?? []) dependents.add(entry);
    this.#markStale(dependents, at);
  }

  invalidateAll(at: number): void {
    this.#markStale([...this.#plain.values(), ...this.#queries.values()], at);
  }

  #markStale(entries: Iterable<Entry>, at: number): void {
    this.#tick += 1;
    for (const entry of entries) entry.state = step(entry.state, { type: 'changed', tick: this.#tick, at });
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
