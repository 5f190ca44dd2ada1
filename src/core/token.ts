import { createHash, randomBytes } from 'node:crypto';
import { MAKER_KEY_PATTERN } from '../contract/submissions/limits.ts';

/** The secret of a session, a known device, an invitation or a maker, and its hash for the database. */
export interface Token {
  /** 256 random bits, as base64url. */
  text: string;
  hash: Buffer;
}

const TOKEN = new RegExp(MAKER_KEY_PATTERN);

export function createToken(): Token {
  const text = randomBytes(32).toString('base64url');
  return { text, hash: hashToken(text) };
}

/** Returns the SHA-256 of a token. No slow hash is needed, because 256 random bits cannot be guessed. */
export function hashToken(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** Returns whether a text has the form of a token. */
export function isToken(text: string | undefined): text is string {
  return text !== undefined && TOKEN.test(text);
}
