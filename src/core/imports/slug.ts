import { createHash } from 'node:crypto';
import slugify from '@sindresorhus/slugify';

/** An id has 64 characters; the others are for a number that makes it unique. */
const SLUG_CHARACTERS = 56;

/** A text as an id, as far as it can be written in Latin letters and digits; empty where nothing is left of it. */
export function slugOf(text: string, maxCharacters = SLUG_CHARACTERS): string {
  const slug = slugify(text, { decamelize: false });
  return slug.slice(0, maxCharacters).replace(/-+$/, '');
}

/** A slug for any name: one of which nothing is left gets a fingerprint, the same every time. */
export function slugOfName(name: string): string {
  return slugOf(name) || `product-${createHash('sha256').update(name.normalize('NFC')).digest('hex').slice(0, 10)}`;
}
