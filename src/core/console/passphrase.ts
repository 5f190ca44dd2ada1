import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto';
import { PASSPHRASE_CHARACTERS } from '../../contract/console/operators.ts';
import { CoreError } from '../core-error.ts';
import { createSemaphore } from '../semaphore.ts';

/**
 * N = 2^15, r = 8, p = 3: OWASP's recommendation for 32 MB of memory. Stored with each hash, so they can grow later.
 */
const COST = { logN: 15, r: 8, p: 3 };
const SALT_BYTES = 16;
const HASH_BYTES = 32;

/** Each hash takes 32 MB and a quarter of a second of processor time, so they run one at a time and few may wait. */
const slots = createSemaphore(1);
const SLOT_TIMEOUT_MS = 10_000;

const STORED = /^scrypt\$(\d{2})\$(\d{1,2})\$(\d{1,2})\$([A-Za-z0-9_-]+)\$([A-Za-z0-9_-]+)$/;

/** Compared if there is no passphrase, so an unknown name takes as long as a wrong passphrase. */
const NOBODY = formatOf(COST, randomBytes(SALT_BYTES), randomBytes(HASH_BYTES));

/** Hashes a passphrase for storage. @throws CoreError `passphrase_too_short`, `overloaded`. */
export async function hashPassphrase(passphrase: string): Promise<string> {
  const text = normal(passphrase);
  if ([...text].length < PASSPHRASE_CHARACTERS.min)
    throw new CoreError(
      'passphrase_too_short',
      `A passphrase has at least ${PASSPHRASE_CHARACTERS.min} characters. Four or five unrelated words make a good one.`,
    );
  const salt = randomBytes(SALT_BYTES);
  return formatOf(COST, salt, await derive(text, salt, COST, HASH_BYTES));
}

/**
 * Compares a passphrase with a stored hash; `stored` is undefined for an unknown operator and takes as long.
 * @throws CoreError `overloaded`.
 */
export async function isPassphrase(passphrase: string, stored: string | undefined): Promise<boolean> {
  const [, logN, r, p, salt = '', hash = ''] = STORED.exec(stored ?? NOBODY) ?? [];
  const expected = Buffer.from(hash, 'base64url');
  const cost = { logN: Number(logN), r: Number(r), p: Number(p) };
  const actual = await derive(normal(passphrase), Buffer.from(salt, 'base64url'), cost, expected.length);
  return timingSafeEqual(actual, expected) && stored !== undefined;
}

/** Keyboards compose accents differently; NFKC gives equal letters equal bytes (RFC 8265). */
function normal(passphrase: string): string {
  return passphrase.normalize('NFKC');
}

function formatOf({ logN, r, p }: typeof COST, salt: Buffer, hash: Buffer): string {
  return ['scrypt', logN, r, p, salt.toString('base64url'), hash.toString('base64url')].join('$');
}

async function derive(text: string, salt: Buffer, { logN, r, p }: typeof COST, bytes: number): Promise<Buffer> {
  const giveBack = await slots.take(SLOT_TIMEOUT_MS);
  if (giveBack === undefined)
    throw new CoreError('overloaded', 'Too many people are signing in right now. Please try again in a moment.');
  const N = 2 ** logN;
  const options: ScryptOptions = { N, r, p, maxmem: 256 * N * r };
  try {
    return await new Promise((resolve, reject) => {
      scrypt(text, salt, bytes, options, (error, key) => (error ? reject(error) : resolve(key)));
    });
  } finally {
    giveBack();
  }
}
