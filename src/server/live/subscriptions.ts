import type { EventStream } from './event-stream.ts';

/** Streams with the same subscription, which get the same bytes. */
export interface Subscription {
  /** If undefined, the streams get the counts of every product. */
  readonly productIds: readonly string[] | undefined;
  readonly streams: Set<EventStream>;
  /** Streams that have not yet received the changes they missed. Until then, they get no shared frames and no ids. */
  readonly resuming: Set<EventStream>;
}

/** The key of streams that name no product. */
const ALL = '*';

/** Open streams by subscription. */
export class Subscriptions {
  readonly #byKey = new Map<string, Subscription>();
  readonly #byProduct = new Map<string, Set<Subscription>>();

  /** Adds a stream, which may first need the changes it missed. @returns the subscription that it shares. */
  add(stream: EventStream, productIds: readonly string[] | undefined, isResuming: boolean): Subscription {
    const sorted = productIds && [...new Set(productIds)].sort();
    const key = sorted?.join(',') ?? ALL;
    const subscription = this.#byKey.get(key) ?? this.#begin(key, sorted);
    (isResuming ? subscription.resuming : subscription.streams).add(stream);
    return subscription;
  }

  remove(stream: EventStream, subscription: Subscription): void {
    subscription.streams.delete(stream);
    subscription.resuming.delete(stream);
    if (subscription.streams.size + subscription.resuming.size > 0) return;
    this.#byKey.delete(subscription.productIds?.join(',') ?? ALL);
    for (const id of subscription.productIds ?? []) {
      const subscribers = this.#byProduct.get(id);
      subscribers?.delete(subscription);
      if (subscribers?.size === 0) this.#byProduct.delete(id);
    }
  }

  all(): Iterable<Subscription> {
    return this.#byKey.values();
  }

  /** Returns the subscription to every product's counts, if any stream has it. */
  toEveryProduct(): Subscription | undefined {
    return this.#byKey.get(ALL);
  }

  /** Returns the subscriptions to a product. */
  toProduct(productId: string): Iterable<Subscription> {
    return this.#byProduct.get(productId) ?? [];
  }

  includesProduct(productId: string): boolean {
    return this.#byProduct.has(productId);
  }

  #begin(key: string, productIds: readonly string[] | undefined): Subscription {
    const subscription: Subscription = { productIds, streams: new Set(), resuming: new Set() };
    this.#byKey.set(key, subscription);
    for (const id of productIds ?? []) {
      const subscribers = this.#byProduct.get(id) ?? new Set();
      subscribers.add(subscription);
      this.#byProduct.set(id, subscribers);
    }
    return subscription;
  }
}
