import type { Change } from '../../core/changes/change-feed.ts';
import type { SiteChanges } from '../../core/changes/site-changes.ts';
import type { EventStream } from './event-stream.ts';
import type { Subscription, Subscriptions } from './subscriptions.ts';

/** If a frame would have more products than this, clients refetch instead. */
const MAX_PRODUCTS_IN_FRAME = 1_000;

/** A result of `SiteChanges.observedUpTo`, or 'unknown' if the client sent an invalid time. */
export type Since = number | 'unknown';

/** A frame, and the streams that get it. */
interface Delivery {
  streams: Iterable<EventStream>;
  /** Whether comments are sent as well as counts. */
  withComments: boolean;
  /**
   * If undefined, clients refetch, because there are too many changes to list, or because the changes are no longer
   * known.
   */
  about: { productIds: readonly string[]; catalogue: boolean } | undefined;
}

/**
 * The deliveries, and the rows to read for them. Comments are read only for products that a stream subscribes to by id.
 */
interface Plan {
  deliveries: Delivery[];
  productIds: string[];
  commentProductIds: string[];
  commentIds: string[];
}

interface ResumingStreams {
  /** The earliest time up to which one of the streams is complete. */
  since: Since;
  streams: Set<EventStream>;
}

/**
 * Changes since the last delivery that at least one stream subscribes to, and the resuming streams, which need the
 * changes they missed.
 */
export class PendingUpdates {
  readonly #productIds = new Set<string>();
  readonly #commentIds = new Set<string>();
  #catalogue = false;
  #isRefetchNeeded = false;
  readonly #resuming = new Map<Subscription, ResumingStreams>();

  isEmpty(): boolean {
    return this.#productIds.size === 0 && !this.#catalogue && !this.#isRefetchNeeded && this.#resuming.size === 0;
  }

  add({ productIds, commentIds = [], catalogue }: Change, subscriptions: Subscriptions): void {
    const named = productIds.filter((id) => subscriptions.includesProduct(id));
    for (const id of subscriptions.toEveryProduct() ? productIds : named) this.#productIds.add(id);
    if (named.length > 0) for (const id of commentIds) this.#commentIds.add(id);
    this.#catalogue ||= catalogue;
  }

  /** Makes the next delivery tell all streams to refetch. */
  addEverything(): void {
    this.#isRefetchNeeded = true;
  }

  /** Adds a stream that needs the changes it missed after `since`. */
  resume(stream: EventStream, subscription: Subscription, since: Since): void {
    const resuming = this.#resuming.get(subscription) ?? { since, streams: new Set() };
    resuming.since = earlier(resuming.since, since);
    resuming.streams.add(stream);
    this.#resuming.set(subscription, resuming);
  }

  /** Removes a closed stream. */
  remove(stream: EventStream, subscription: Subscription): void {
    const resuming = this.#resuming.get(subscription);
    resuming?.streams.delete(stream);
    if (resuming?.streams.size === 0) this.#resuming.delete(subscription);
  }

  /** Lets the resumed streams get the shared frames of their subscriptions. Call this after the delivery. */
  endResuming(): void {
    for (const [subscription, { streams }] of this.#resuming) {
      // Streams that closed during the delivery are no longer in the subscription.
      for (const stream of streams) if (subscription.resuming.delete(stream)) subscription.streams.add(stream);
    }
  }

  /** Takes back a batch that could not be delivered, without the streams that closed in the meantime. */
  restore(batch: PendingUpdates): void {
    for (const id of batch.#productIds) this.#productIds.add(id);
    for (const id of batch.#commentIds) this.#commentIds.add(id);
    this.#catalogue ||= batch.#catalogue;
    this.#isRefetchNeeded ||= batch.#isRefetchNeeded;
    for (const [subscription, { since, streams }] of batch.#resuming) {
      for (const stream of streams) if (subscription.resuming.has(stream)) this.resume(stream, subscription, since);
    }
  }

  plan(subscriptions: Subscriptions, changes: MissableChanges): Plan {
    const missed = this.#missed(changes);
    const deliveries = [
      ...(this.#isRefetchNeeded ? refetchAll(subscriptions) : this.#current(subscriptions)),
      ...missed.deliveries,
    ];
    const ofNamed = deliveries.filter(({ withComments }) => withComments);
    return {
      deliveries,
      productIds: productIdsOf(deliveries),
      commentProductIds: productIdsOf(ofNamed),
      commentIds: [...new Set([...this.#commentIds, ...missed.commentIds])],
    };
  }

  #current(subscriptions: Subscriptions): Delivery[] {
    const changed = new Map<Subscription, string[]>();
    if (this.#catalogue) for (const subscription of subscriptions.all()) changed.set(subscription, []);
    for (const id of this.#productIds) {
      for (const subscription of subscriptions.toProduct(id)) {
        const ids = changed.get(subscription) ?? [];
        ids.push(id);
        changed.set(subscription, ids);
      }
    }
    const toAll = subscriptions.toEveryProduct();
    if (toAll && this.#productIds.size > 0) changed.set(toAll, [...this.#productIds]);
    return [...changed].map(([subscription, productIds]) =>
      deliveryOf(subscription, subscription.streams, { productIds, catalogue: this.#catalogue }),
    );
  }

  #missed(changes: MissableChanges): { deliveries: Delivery[]; commentIds: string[] } {
    const resuming = [...this.#resuming].map(([subscription, { since, streams }]) => {
      const missed = since === 'unknown' ? undefined : changes.since(since, subscription.productIds);
      const needsComments = subscription.productIds !== undefined && (missed?.productIds.length ?? 0) > 0;
      const commentsSince = needsComments && since !== 'unknown' ? since : Number.POSITIVE_INFINITY;
      return { subscription, streams, missed, commentsSince };
    });
    // All subscriptions share one lookup, because each lookup scans the comments of all products.
    const earliest = resuming.reduce(
      (min, { commentsSince }) => Math.min(min, commentsSince),
      Number.POSITIVE_INFINITY,
    );
    const { commentIds, completeSince } = Number.isFinite(earliest)
      ? changes.commentsSince(earliest)
      : { commentIds: [], completeSince: earliest };
    const deliveries = resuming.map(({ subscription, streams, missed, commentsSince }) =>
      deliveryOf(subscription, streams, commentsSince < completeSince ? undefined : missed),
    );
    return { deliveries, commentIds };
  }
}

type MissableChanges = Pick<SiteChanges, 'since' | 'commentsSince'>;

function deliveryOf({ productIds }: Subscription, streams: Iterable<EventStream>, about: Delivery['about']): Delivery {
  const isTooMuch = about !== undefined && about.productIds.length > MAX_PRODUCTS_IN_FRAME;
  return { streams, withComments: productIds !== undefined, about: isTooMuch ? undefined : about };
}

function refetchAll(subscriptions: Subscriptions): Delivery[] {
  return [...subscriptions.all()].map((subscription) => deliveryOf(subscription, subscription.streams, undefined));
}

function productIdsOf(deliveries: readonly Delivery[]): string[] {
  return [...new Set(deliveries.flatMap(({ about }) => about?.productIds ?? []))];
}

function earlier(one: Since, other: Since): Since {
  return one === 'unknown' || other === 'unknown' ? 'unknown' : Math.min(one, other);
}
