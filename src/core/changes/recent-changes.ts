import { type Change, type ChangeRecord, isEverything, RETENTION_MS } from './change-feed.ts';

/** More than some minutes of a busy site change; beyond that, the oldest are forgotten. */
const MAX_PRODUCTS = 10_000;
const MAX_COMMENTS = 10_000;

/**
 * Processes observe the same change at different moments, and a transaction may become visible some seconds after its record's time. So
 * "since a moment" includes a little before it.
 */
const MARGIN_MS = 5_000;

/**
 * The changes since a moment, and shortly before it. The comments are of any product. Callers read the current state,
 * so reporting a change twice is harmless.
 */
export interface MissedChanges {
  productIds: string[];
  commentIds: string[];
  catalogue: boolean;
}

/** Remembers what changed when, by the database's time in milliseconds, which is the same in every process. */
export class RecentChanges {
  /** When each product last changed, the least recent first. */
  readonly #products = new Map<string, number>();
  /** Ordered by time; a comment liked twice is here twice. */
  #comments: { id: string; at: number }[] = [];
  #catalogueAt = Number.NEGATIVE_INFINITY;
  /** Changes up to here may be forgotten. */
  #horizon = Number.POSITIVE_INFINITY;

  /** Starts from the records made before this process. `now` is when they were read. */
  begin(records: readonly ChangeRecord[], now: number): void {
    this.#horizon = now - RETENTION_MS;
    for (const record of records.toSorted((a, b) => a.createdAt - b.createdAt)) {
      if (isEverything(record)) this.forget(record.createdAt);
      else this.add(record, record.createdAt);
    }
  }

  add({ productIds, commentIds = [], catalogue }: Change, at: number): void {
    if (catalogue) this.#catalogueAt = at;
    for (const id of productIds) {
      this.#products.delete(id);
      this.#products.set(id, at);
    }
    for (const id of commentIds) this.#comments.push({ id, at });
    this.#forgetTooMany();
  }

  /** Forgets everything up to a moment. */
  forget(upTo: number): void {
    this.#products.clear();
    this.#comments = [];
    this.#horizon = upTo;
  }

  /** @returns the changes of these products (of all without `productIds`), or undefined if they are no longer known. */
  since(moment: number, productIds: Iterable<string> = this.#products.keys()): MissedChanges | undefined {
    const from = moment - MARGIN_MS;
    if (from < this.#horizon) return undefined;
    const changed = [...productIds].filter((id) => (this.#products.get(id) ?? Number.NEGATIVE_INFINITY) > from);
    return { productIds: changed, commentIds: this.#commentsSince(from), catalogue: this.#catalogueAt > from };
  }

  #commentsSince(from: number): string[] {
    const ids = new Set<string>();
    for (let index = this.#comments.length - 1; index >= 0; index -= 1) {
      const comment = this.#comments[index];
      if (comment === undefined || comment.at <= from) break;
      ids.add(comment.id);
    }
    return [...ids];
  }

  #forgetTooMany(): void {
    for (const [id, at] of this.#products) {
      if (this.#products.size <= MAX_PRODUCTS) break;
      this.#products.delete(id);
      this.#horizon = Math.max(this.#horizon, at);
    }
    // In large steps, since each removal moves all other entries.
    if (this.#comments.length < 2 * MAX_COMMENTS) return;
    const forgotten = this.#comments.splice(0, this.#comments.length - MAX_COMMENTS);
    this.#horizon = Math.max(this.#horizon, forgotten.at(-1)?.at ?? this.#horizon);
  }
}
