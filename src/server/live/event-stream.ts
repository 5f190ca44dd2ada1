import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { LIVE_EVENTS } from '../../contract/live/events.ts';
import type { LiveComment, LiveCounts } from '../../contract/live/schema.ts';

/** A client with more unread bytes than this is disconnected, because further frames would only occupy memory. */
export const MAX_UNREAD_BYTES = 64 * 1024;

/**
 * One open event stream. Frames are written directly to the socket, without chunked encoding, so all streams can share
 * the same bytes. When the response ends, the connection closes.
 */
export class EventStream {
  readonly #response: ServerResponse;
  readonly #socket: Socket;

  /** `response` must already have its status and headers. */
  constructor(response: ServerResponse, socket: Socket) {
    this.#response = response;
    this.#socket = socket;
  }

  onClose(listener: () => void): void {
    this.#response.once('close', listener);
  }

  /** Sends the head of the response and the first bytes. */
  begin(bytes: Buffer): void {
    this.#response.write(bytes);
  }

  /** @returns false if the client did not keep up and has been disconnected. */
  send(bytes: Buffer): boolean {
    // The connection was closed earlier, by this method or for another reason. Its close event follows.
    if (this.#socket.destroyed) return true;
    if (this.#socket.writableLength > MAX_UNREAD_BYTES) {
      this.#socket.destroy();
      return false;
    }
    this.#socket.write(bytes);
    return true;
  }

  end(bytes: Buffer): void {
    this.#response.end(bytes);
  }
}

/** The serialized content of events, shared by all streams. */
interface EventData {
  /** JSON objects, by product id. */
  counts: ReadonlyMap<string, string>;
  comments: ReadonlyMap<string, readonly string[]>;
}

export function eventDataOf(counts: readonly LiveCounts[], comments: readonly LiveComment[]): EventData {
  const byProduct = new Map<string, string[]>();
  for (const { productId, commentId, likes } of comments) {
    const ofProduct = byProduct.get(productId) ?? [];
    ofProduct.push(JSON.stringify({ productId, commentId, likes }));
    byProduct.set(productId, ofProduct);
  }
  return {
    counts: new Map(
      counts.map(({ id, upvotes, comments: total }) => [id, JSON.stringify({ id, upvotes, comments: total })]),
    ),
    comments: byProduct,
  };
}

interface Frame {
  productIds: Iterable<string>;
  /** Whether comments are sent as well as counts. */
  withComments: boolean;
  catalogue: boolean;
  /** The time up to which the stream is complete. It is sent last, so a partially received frame does not count. */
  id: number | undefined;
}

/** Returns the bytes of a frame about some products, or undefined if it would be empty. */
export function encode(data: EventData, { productIds, withComments, catalogue, id }: Frame): Buffer | undefined {
  const counts: string[] = [];
  const comments: string[] = [];
  for (const productId of productIds) {
    const ofProduct = data.counts.get(productId);
    if (ofProduct !== undefined) counts.push(ofProduct);
    if (withComments) comments.push(...(data.comments.get(productId) ?? []));
  }
  const events: string[] = [];
  if (catalogue) events.push(`event: ${LIVE_EVENTS.catalogue}\ndata: {}\n`);
  if (counts.length > 0) events.push(`event: ${LIVE_EVENTS.counts}\ndata: [${counts.join(',')}]\n`);
  if (comments.length > 0) events.push(`event: ${LIVE_EVENTS.comments}\ndata: [${comments.join(',')}]\n`);
  return events.length === 0 ? undefined : Buffer.from(`${events.join('\n')}${idLine(id)}\n`);
}

/** Returns an event that asks the client to refetch everything. */
export function encodeRefetch(id: number | undefined): Buffer {
  return Buffer.from(`event: ${LIVE_EVENTS.refetch}\ndata: {}\n${idLine(id)}\n`);
}

/**
 * Returns a heartbeat, which keeps proxies from closing the stream. An id without data fires no event but advances
 * `Last-Event-ID`.
 */
export function encodeHeartbeat(id: number | undefined): Buffer {
  return Buffer.from(`:\n${idLine(id)}\n`);
}

/**
 * Returns the first bytes of a stream, which set the delay before a reconnection. The delay is random, so the clients
 * of a lost server do not reconnect simultaneously.
 */
export function encodeOpening(id: number | undefined): Buffer {
  return Buffer.from(`retry: ${retryMs()}\n${idLine(id)}\n`);
}

/** Returns the last bytes of a stream, which set a new random delay before the reconnection. */
export function encodeEnding(): Buffer {
  return Buffer.from(`retry: ${retryMs()}\n\n`);
}

const FIRST_RETRY_MS = 1_000;
const RETRY_JITTER_MS = 4_000;

function retryMs(): number {
  return FIRST_RETRY_MS + Math.floor(Math.random() * RETRY_JITTER_MS);
}

function idLine(id: number | undefined): string {
  return id === undefined ? '' : `id: ${Math.floor(id)}\n`;
}
