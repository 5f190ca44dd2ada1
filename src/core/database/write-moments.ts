import type { Change } from '../changes/change.ts';

/** What a read depends on: products, the session that asks for its own; neither: everything. */
export interface ReadScope {
  productIds?: readonly string[];
  session?: string;
}

/** Longer than a replica may lag and still be read, so that what is older says nothing any more. */
export const REMEMBERED_MS = 10_000;

const MOST_KEPT = 20_000;

/**
 * When what was last written, as far as this process knows, in milliseconds since 1970 by its own clock. More than is worth
 * keeping becomes one moment for all.
 */
export class WriteMoments {
  readonly #products = new Map<string, number>();
  readonly #sessions = new Map<string, number>();
  /** For reads of everything. */
  #any = 0;
  /** For all reads, whatever they are of. */
  #everything = 0;

  add({ productIds, catalogue }: Change, moment = Date.now()): void {
    // Who comes before and after a product changes with the catalogue.
    if (catalogue) this.addEverything(moment);
    for (const id of productIds) put(this.#products, id, moment);
    this.#any = Math.max(this.#any, moment);
    if (this.#products.size > MOST_KEPT) this.addEverything(moment);
  }

  addSession(session: string, moment = Date.now()): void {
    put(this.#sessions, session, moment);
    this.#any = Math.max(this.#any, moment);
    if (this.#sessions.size > MOST_KEPT) this.addEverything(moment);
  }

  addEverything(moment: number): void {
    this.#everything = Math.max(this.#everything, moment);
    this.#any = Math.max(this.#any, moment);
    if (this.#products.size > MOST_KEPT) this.#products.clear();
    if (this.#sessions.size > MOST_KEPT) this.#sessions.clear();
  }

  /** The last write that a read must show. */
  since({ productIds, session }: ReadScope): number {
    let moment = this.#everything;
    if (productIds === undefined && session === undefined) return this.#any;
    for (const id of productIds ?? []) moment = Math.max(moment, this.#products.get(id) ?? 0);
    if (session !== undefined) moment = Math.max(moment, this.#sessions.get(session) ?? 0);
    return moment;
  }

  /** The last write of all. */
  latest(): number {
    return this.#any;
  }

  /** Forgets what no replica that may be read can lack. */
  forget(now = Date.now()): void {
    for (const moments of [this.#products, this.#sessions]) {
      for (const [key, moment] of moments) {
        if (now - moment < REMEMBERED_MS) break;
        moments.delete(key);
      }
    }
  }
}

/** At the end, so that the oldest are found at the beginning. */
function put(moments: Map<string, number>, key: string, moment: number): void {
  moments.delete(key);
  moments.set(key, moment);
}
