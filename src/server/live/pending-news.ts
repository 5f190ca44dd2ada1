import type { Change } from '../../core/changes/change.ts';
import type { SiteChanges } from '../../core/changes/site-changes.ts';
import type { EventStream } from './event-stream.ts';
import type { Interest, Interests } from './interests.ts';

/** More counts than this at once are not worth sending to those who asked for all: they read again what they show. */
const MAX_PRODUCTS_IN_FRAME = 1_000;

/** A moment as `SiteChanges` knows them, or one that a client named and that means nothing here. */
export type Since = number | 'unknown';

/** What one group of streams is to be told. */
export interface Telling {
  streams: Iterable<EventStream>;
  /** Whether comments are told as well, or counts alone. */
  withComments: boolean;
  /** Undefined: more than can be named, or not known any more. */
  about: { productIds: readonly string[]; catalogue: boolean } | undefined;
}

/** Who is to be told of what, and what has to be read for that: comments only of products that somebody named. */
export interface Plan {
  tellings: Telling[];
  productIds: string[];
  commentProductIds: string[];
  commentIds: string[];
}

interface Resuming {
  /** The earliest moment that one of them named. */
  since: Since;
  streams: Set<EventStream>;
}

/** What happened since the streams were last told, as far as one of them wants to hear of it. */
export class PendingNews {
  readonly #productIds = new Set<string>();
  readonly #commentIds = new Set<string>();
  #catalogue = false;
  #everything = false;
  readonly #resuming = new Map<Interest, Resuming>();

  isEmpty(): boolean {
    return this.#productIds.size === 0 && !this.#catalogue && !this.#everything && this.#resuming.size === 0;
  }

  add({ productIds, commentIds = [], catalogue }: Change, interests: Interests): void {
    const named = productIds.filter((id) => interests.isNamed(id));
    for (const id of interests.inEverything() ? productIds : named) this.#productIds.add(id);
    if (named.length > 0) for (const id of commentIds) this.#commentIds.add(id);
    this.#catalogue ||= catalogue;
  }

  addEverything(): void {
    this.#everything = true;
  }

  /** A stream came back, and knows everything up to a moment. */
  resume(stream: EventStream, interest: Interest, since: Since): void {
    const resuming = this.#resuming.get(interest) ?? { since, streams: new Set() };
    resuming.since = earlier(resuming.since, since);
    resuming.streams.add(stream);
    this.#resuming.set(interest, resuming);
  }

  /** The stream is closed. */
  forget(stream: EventStream, interest: Interest): void {
    const resuming = this.#resuming.get(interest);
    resuming?.streams.delete(stream);
    if (resuming?.streams.size === 0) this.#resuming.delete(interest);
  }

  /** Takes up what could not be told. */
  takeBack(untold: PendingNews): void {
    for (const id of untold.#productIds) this.#productIds.add(id);
    for (const id of untold.#commentIds) this.#commentIds.add(id);
    this.#catalogue ||= untold.#catalogue;
    this.#everything ||= untold.#everything;
    for (const [interest, { since, streams }] of untold.#resuming) {
      for (const stream of streams) this.resume(stream, interest, since);
    }
  }

  plan(interests: Interests, changes: Pick<SiteChanges, 'since'>): Plan {
    const missed = this.#missed(changes);
    const tellings = [...(this.#everything ? refetchAll(interests) : this.#current(interests)), ...missed.tellings];
    const ofNamed = tellings.filter(({ withComments }) => withComments);
    return {
      tellings,
      productIds: productIdsOf(tellings),
      commentProductIds: productIdsOf(ofNamed),
      commentIds: [...new Set([...this.#commentIds, ...missed.commentIds])],
    };
  }

  #current(interests: Interests): Telling[] {
    const changed = new Map<Interest, string[]>();
    if (this.#catalogue) for (const interest of interests.all()) changed.set(interest, []);
    for (const id of this.#productIds) {
      for (const interest of interests.inProduct(id)) {
        const ids = changed.get(interest) ?? [];
        ids.push(id);
        changed.set(interest, ids);
      }
    }
    const everything = interests.inEverything();
    if (everything && this.#productIds.size > 0) changed.set(everything, [...this.#productIds]);
    return [...changed].map(([interest, productIds]) =>
      tellingOf(interest, interest.streams, { productIds, catalogue: this.#catalogue }),
    );
  }

  #missed(changes: Pick<SiteChanges, 'since'>): { tellings: Telling[]; commentIds: string[] } {
    const commentIds: string[] = [];
    const tellings = [...this.#resuming].map(([interest, { since, streams }]) => {
      const missed = since === 'unknown' ? undefined : changes.since(since, interest.productIds);
      if (missed && interest.productIds) commentIds.push(...missed.commentIds);
      return tellingOf(interest, streams, missed);
    });
    return { tellings, commentIds };
  }
}

function tellingOf({ productIds }: Interest, streams: Iterable<EventStream>, about: Telling['about']): Telling {
  const isTooMuch = about !== undefined && about.productIds.length > MAX_PRODUCTS_IN_FRAME;
  return { streams, withComments: productIds !== undefined, about: isTooMuch ? undefined : about };
}

function refetchAll(interests: Interests): Telling[] {
  return [...interests.all()].map((interest) => tellingOf(interest, interest.streams, undefined));
}

function productIdsOf(tellings: readonly Telling[]): string[] {
  return [...new Set(tellings.flatMap(({ about }) => about?.productIds ?? []))];
}

function earlier(one: Since, other: Since): Since {
  return one === 'unknown' || other === 'unknown' ? 'unknown' : Math.min(one, other);
}
