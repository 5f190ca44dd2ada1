import type { EventStream } from './event-stream.ts';

/** What some streams want to hear of, in one group: they are sent the same bytes. */
export interface Interest {
  /** Undefined: every product's counts. */
  readonly productIds: readonly string[] | undefined;
  readonly streams: Set<EventStream>;
}

/** The key of streams that name no product: no id is empty. */
const ALL = '*';

/** Open streams by what they want to hear of. */
export class Interests {
  readonly #byKey = new Map<string, Interest>();
  readonly #byProduct = new Map<string, Set<Interest>>();

  /** Adds a stream to those that want the same. @returns their group. */
  add(stream: EventStream, productIds: readonly string[] | undefined): Interest {
    const sorted = productIds && [...new Set(productIds)].sort();
    const key = sorted?.join(',') ?? ALL;
    const interest = this.#byKey.get(key) ?? this.#begin(key, sorted);
    interest.streams.add(stream);
    return interest;
  }

  remove(stream: EventStream, interest: Interest): void {
    interest.streams.delete(stream);
    if (interest.streams.size > 0) return;
    this.#byKey.delete(interest.productIds?.join(',') ?? ALL);
    for (const id of interest.productIds ?? []) {
      const watching = this.#byProduct.get(id);
      watching?.delete(interest);
      if (watching?.size === 0) this.#byProduct.delete(id);
    }
  }

  all(): Iterable<Interest> {
    return this.#byKey.values();
  }

  /** The streams that want every product's counts, where there are any. */
  inEverything(): Interest | undefined {
    return this.#byKey.get(ALL);
  }

  /** Those that name a product. */
  inProduct(productId: string): Iterable<Interest> {
    return this.#byProduct.get(productId) ?? [];
  }

  isNamed(productId: string): boolean {
    return this.#byProduct.has(productId);
  }

  #begin(key: string, productIds: readonly string[] | undefined): Interest {
    const interest: Interest = { productIds, streams: new Set() };
    this.#byKey.set(key, interest);
    for (const id of productIds ?? []) {
      const watching = this.#byProduct.get(id) ?? new Set();
      watching.add(interest);
      this.#byProduct.set(id, watching);
    }
    return interest;
  }
}
