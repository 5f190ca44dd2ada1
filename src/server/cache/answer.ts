/** A GET answer that is the same for every visitor, and what it depends on. */
export interface Answer {
  status: number;
  type: string;
  cacheControl: string;
  body: string;
  reads: Reads;
  /**
   * Whether it says since when it is as it is (`Last-Modified`), for clients that know no ETag. That has whole seconds, so
   * it is for answers that are made at most once a second.
   */
  isDated?: boolean;
}

/** What is remembered of an answer; its body is kept as bytes alone. */
export type AnswerHead = Omit<Answer, 'body'>;

/** What an answer was made from. */
export interface Reads {
  /** Products that it shows. */
  products: readonly string[];
  /** Whether it also depends on which products there are, and how they are described. */
  catalogue: boolean;
  /** Whether it depends on the counts of all products, as a list ordered by them does. */
  allCounts: boolean;
  /** Whether a reading stopped at its time limit before it had a full page: asked again, it may find more. */
  unfinished: boolean;
}

/** How new an answer has to be. All in milliseconds. */
export interface Freshness {
  /** However many changes there are, it is made once in this time at most, and less often where making it takes long. */
  minIntervalMs: number;
  /** An outdated one is still given while the next is made, but not for longer than this after the change. */
  maxOutdatedMs: number;
}

export interface AnswerRequest {
  /**
   * Names the answer, in one way only: two addresses that mean the same have the same key. One that is itself an address names what
   * that address has, so that `repeat-answers.ts` finds it without asking the route.
   */
  key: string;
  freshness: Freshness;
  /** @throws CoreError where there is no such answer, or anything else where it cannot be made now. */
  produce(): Promise<Answer>;
  /** Milliseconds since 1970: a visitor who wrote then must not see an older state. */
  notBefore?: number | undefined;
}

/** A page costs milliseconds to render, and may lag for a moment behind what somebody else did. */
export const PAGE_FRESHNESS: Freshness = { minIntervalMs: 250, maxOutdatedMs: 1_000 };

/** A feed says when it was modified, in seconds; nobody who subscribes minds the second. */
export const FEED_FRESHNESS: Freshness = { minIntervalMs: 1_000, maxOutdatedMs: 1_000 };

/** An answer of the API costs a statement, and shows whatever was acknowledged before it was asked for. */
export const API_FRESHNESS: Freshness = { minIntervalMs: 0, maxOutdatedMs: 0 };
