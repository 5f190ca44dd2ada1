import { LIVE_EVENTS } from '../../contract/live/events.ts';
import type { LiveComment, LiveCounts } from '../../contract/live/schema.ts';

/** What there is to tell, each part serialised once however many streams it goes to. */
export interface EventData {
  /** By product id. */
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

export interface Frame {
  productIds: Iterable<string>;
  /** Whether comments are told as well, or counts alone. */
  withComments: boolean;
  catalogue: boolean;
  /** The moment up to which a stream that got this knows everything; stands behind all of it, lest a part be missed. */
  id: number | undefined;
}

/** The bytes that tell a stream about some products; undefined where there is nothing to tell. */
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

/** Tells a client to read everything again. */
export function encodeRefetch(id: number | undefined): Buffer {
  return Buffer.from(`event: ${LIVE_EVENTS.refetch}\ndata: {}\n${idLine(id)}\n`);
}

/** Keeps proxies from closing a stream. An id without data is no event, and moves on what a reconnecting client asks for. */
export function encodeHeartbeat(id: number | undefined): Buffer {
  return Buffer.from(`:\n${idLine(id)}\n`);
}

/** The first bytes of a stream. Clients that lose a server at the same moment must not come back at the same moment. */
export function encodeOpening(id: number | undefined): Buffer {
  return Buffer.from(`retry: ${retryMs()}\n${idLine(id)}\n`);
}

/** The last bytes of a stream that the server ends. */
export function encodeEnding(): Buffer {
  return Buffer.from(`retry: ${retryMs()}\n\n`);
}

const FIRST_RETRY_MS = 1_000;
const RETRY_SPREAD_MS = 4_000;

function retryMs(): number {
  return FIRST_RETRY_MS + Math.floor(Math.random() * RETRY_SPREAD_MS);
}

function idLine(id: number | undefined): string {
  return id === undefined ? '' : `id: ${Math.floor(id)}\n`;
}
