import { REVALIDATE } from '../http/caching.ts';
import type { Answer, Reads } from './answer.ts';

/** A JSON answer of the API. */
export function jsonAnswer(content: unknown, reads: Partial<Reads>): Answer {
  return {
    status: 200,
    type: 'application/json; charset=utf-8',
    cacheControl: REVALIDATE,
    body: JSON.stringify(content),
    reads: { products: [], catalogue: false, allCounts: false, ...reads },
  };
}
