import { createHash } from 'node:crypto';

/**
 * The order of a product among equal counts of a period: the first 128 bits of SHA-256(period + "/" + product id) as a
 * UUID, ascending. It is the same for all visitors, and no launch can choose it.
 */
export function tieOrder(period: string, productId: string): string {
  return uuidOf(createHash('sha256').update(`${period}/${productId}`).digest('hex'));
}

/** The first 128 bits of a digest in hexadecimal, written as a UUID: 16 bytes in the database, in the same order. */
export function uuidOf(digest: string): string {
  return digest.slice(0, 32).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
