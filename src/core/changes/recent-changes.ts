import type { Change } from './change.ts';
import { type ChangeNote, isEverything, KEPT_MS } from './change-feed.ts';

/** More than change in some minutes of a busy site; beyond, the oldest are forgotten. */
const MAX_PRODUCTS = 10_000;
const MAX_COMMENTS = 10_000;

/**
 * Processes hear of the same change at different moments, and a transaction may become visible some seconds after its
 * note's time. Whoever asks what came since a moment is told of what came a little before it as well.
 */
const MARGIN_MS = 5_000;

/**
 * What changed since a moment; some of it may have been known before. The comments are of any product. Whoever is told
 * reads the present state, so that being told twice does no harm.
 */
export interface Missed {
  productIds: string[];
  commentIds: string[];
  catalogue: boolean;
}

/** Remembers what changed when, by the database's time in milliseconds, so that a moment means the same in every process. */
export class RecentChanges {
  /** When each product changed last, the longest unchanged first. */
  readonly #products = new Map<string, number>();
  /** In the order of time; one that is liked twice is here twice. */
  #comments: { id: string; at: number }[] = [];
  #catalogueAt = Number.NEGATIVE_INFINITY;
  /** What changed up to here may be forgotten. */
  #horizon = Number.POSITIVE_INFINITY;

  /** Takes up what the feed still holds of the time before this process. `now` is the moment at which that was read. */
  begin(notes: readonly ChangeNote[], now: number): void {
    this.#horizon = now - KEPT_MS;
    for (const note of notes.toSorted((a, b) => a.notedAt - b.notedAt)) {
      if (isEverything(note)) this.forget(note.notedAt);
      else this.add(note, note.notedAt);
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

  /** Nothing is known of what changed up to a moment. */
  forget(upTo: number): void {
    this.#products.clear();
    this.#comments = [];
    this.#horizon = upTo;
  }

  /** @returns what changed of these products (of all without `productIds`), or undefined where that is not known any more. */
  since(moment: number, productIds: Iterable<string> = this.#products.keys()): Missed | undefined {
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
    // In large steps, since each moves all the others.
    if (this.#comments.length < 2 * MAX_COMMENTS) return;
    const forgotten = this.#comments.splice(0, this.#comments.length - MAX_COMMENTS);
    this.#horizon = Math.max(this.#horizon, forgotten.at(-1)?.at ?? this.#horizon);
  }
}
