import type { Change } from '../../core/changes/change.ts';
import type { Representations } from '../http/representations.ts';
import type { AnswerHead, Reads } from './answer.ts';

/** A kept answer and what became of it. Moments are milliseconds. */
export interface Entry {
  readonly key: string;
  /** How long it may lag behind a change, for the strictest of those who ask for it. */
  maxOutdatedMs: number;
  answer: AnswerHead;
  content: Representations;
  /** Since when it has had just this content. */
  contentSince: number;
  /** When its making began, by the wall clock and in the cache's own count of events: it shows whatever came before. */
  startedAt: number;
  startedTick: number;
  /** How long that took. */
  tookMs: number;
  /** The last change of what it depends on, in the same count, and since when it is outdated. */
  droppedTick: number;
  outdatedSince: number | undefined;
  /** The making of the next version, where one is under way. */
  refreshing: Promise<void> | undefined;
  /** When the last attempt at a new version failed, until one succeeds. */
  failedAt: number | undefined;
  /** Why there is no such answer any more. */
  goneWith: Error | undefined;
}

/** Kept entries: found by key, or by what they depend on; bounded by bytes, least recently used first out. */
export class EntryStore {
  readonly #maxBytes: number;
  /** In the order of use. */
  readonly #entries = new Map<string, Entry>();
  readonly #byProduct = new Map<string, Set<Entry>>();
  readonly #ofCatalogue = new Set<Entry>();
  readonly #ofAllCounts = new Set<Entry>();
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get bytes(): number {
    return this.#bytes;
  }

  has(key: string): boolean {
    return this.#entries.has(key);
  }

  /** Finds an entry, and puts it last in the order of those that have to go. */
  use(key: string): Entry | undefined {
    const entry = this.#entries.get(key);
    if (entry !== undefined) {
      this.#entries.delete(key);
      this.#entries.set(key, entry);
    }
    return entry;
  }

  add(entry: Entry): void {
    this.#entries.set(entry.key, entry);
    this.#bytes += entry.content.sizeBytes;
    for (const set of this.#setsOf(entry.answer.reads)) set.add(entry);
    for (const oldest of this.#entries.values()) {
      if (this.#bytes <= this.#maxBytes) return;
      this.remove(oldest);
    }
  }

  /** @returns whether it was there: it may have had to go meanwhile. */
  remove(entry: Entry): boolean {
    if (this.#entries.get(entry.key) !== entry) return false;
    this.#entries.delete(entry.key);
    this.#bytes -= entry.content.sizeBytes;
    for (const set of this.#setsOf(entry.answer.reads)) set.delete(entry);
    for (const id of entry.answer.reads.products) if (this.#byProduct.get(id)?.size === 0) this.#byProduct.delete(id);
    return true;
  }

  all(): Iterable<Entry> {
    return this.#entries.values();
  }

  /** What a change touches. */
  dependents({ productIds, catalogue }: Change): Set<Entry> {
    const found = new Set<Entry>(this.#ofAllCounts);
    if (catalogue) for (const entry of this.#ofCatalogue) found.add(entry);
    for (const id of productIds) for (const entry of this.#byProduct.get(id) ?? []) found.add(entry);
    return found;
  }

  *#setsOf({ products, catalogue, allCounts }: Reads): Iterable<Set<Entry>> {
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
