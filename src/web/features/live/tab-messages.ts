import type { ServerEvent } from './event-reader.ts';

/** What a tab wants to hear of. */
export interface Want {
  tab: string;
  /** Counts the tab's wants: a later one takes the place of an earlier one. */
  number: number;
  productIds: readonly string[];
  /** The server's time, in milliseconds since 1970, up to which the tab knows everything. */
  since: number;
}

/** What the tabs of a browser tell each other. One of them leads: it holds the stream for all. */
export type TabMessage =
  | { kind: 'want'; want: Want }
  | { kind: 'leave'; tab: string }
  /** From a new leader: whoever wants something says so again. */
  | { kind: 'who' }
  /** The stream is open; for each tab, the number of the want that it answers. */
  | { kind: 'open'; answers: Readonly<Record<string, number>> }
  /** There is no stream for now: each tab asks for itself now and then. */
  | { kind: 'lost' }
  /** `all`: of everything that changes, but not of comments. */
  | ({ kind: 'event'; all: boolean } & ServerEvent)
  | { kind: 'id'; id: number };
