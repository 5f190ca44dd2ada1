import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { MAKER_KEY_PATTERN } from '../../contract/submissions/limits.ts';

const KEY_BYTES = 32;
const MAKER_KEY = new RegExp(MAKER_KEY_PATTERN);

/** The hashes that are compared if a submission does not exist, so an unknown id takes as long as a wrong key. */
const NO_HASHES: readonly Buffer[] = [randomBytes(32)];

export interface MakerKey {
  /** The key, which only the maker gets. */
  key: string;
  /** The stored hash. A plain SHA-256 is enough, because the 256 random bits of a key cannot be guessed. */
  hash: Buffer;
}

export function createMakerKey(): MakerKey {
  const key = randomBytes(KEY_BYTES).toString('base64url');
  return { key, hash: hashOf(key) };
}

/** Returns whether a key matches one of these hashes. Every comparison takes the same time. */
export function isMakerKey(key: string | undefined, hashes: readonly Buffer[] = NO_HASHES): boolean {
  const hash = hashOf(key ?? '');
  let found = false;
  for (const each of hashes) found = timingSafeEqual(hash, each) || found;
  return found && hashes !== NO_HASHES && MAKER_KEY.test(key ?? '');
}

function hashOf(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}
