import type { ServerEvent } from './event-stream.ts';

/** A tab's subscription. */
export interface Want {
  tab: string;
  /** Counts the tab's subscriptions: a later one replaces an earlier one. */
  number: number;
  productIds: readonly string[];
  /** The server's time, in milliseconds since 1970, up to which the tab knows everything. */
  since: number;
}

/** Messages between the tabs of a browser. One of them leads: it holds the stream for all. */
export type TabMessage =
  | { kind: 'want'; want: Want }
  | { kind: 'leave'; tab: string }
  /** From a new leader: tabs repeat their subscriptions. */
  | { kind: 'who' }
  /** The stream is open; for each tab, the number of the subscription that it covers. */
  | { kind: 'open'; answers: Readonly<Record<string, number>> }
  /** There is no stream for now: tabs poll. */
  | { kind: 'lost' }
  /** `all`: everything that changes, except comments. */
  | ({ kind: 'event'; all: boolean } & ServerEvent)
  | { kind: 'id'; id: number };
