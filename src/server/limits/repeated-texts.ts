import { createHash } from 'node:crypto';
import type { Repetition } from '../../core/spam.ts';
import type { Visitor } from './limit-requests.ts';
import { createNetworkKeys } from './network-keys.ts';
import { createTokenBuckets, migrateKey, type TokenBuckets } from './token-buckets.ts';

/**
 * A text is suspicious once it has been posted `times` times, on any products. The count falls evenly to zero within an
 * hour. Short texts such as 'Great!' repeat naturally, so only texts with at least `letters` letters are counted across
 * a network or the whole site.
 */
const REPEATED_TEXT_RULES = {
  session: { times: 3 },
  network: { times: 5, letters: 20 },
  site: { times: 10, letters: 40 },
} as const;

/** Detects texts that are posted repeatedly. The texts themselves are not stored, only hashes of them in memory. */
export type RepeatedTexts = (text: string, visitor: Visitor) => Repetition;

/** `now` returns the time of a monotonic clock in milliseconds. */
export function createRepeatedTexts(now: () => number): RepeatedTexts {
  const networkKeys = createNetworkKeys(now);
  // A bucket is empty after `times - 1` postings, so the next posting is suspicious.
  const bucketsOf = ({ times }: { times: number }) => createTokenBuckets({ amount: times - 1, seconds: 3_600, now });
  const { session: sessionRule, network: networkRule, site: siteRule } = REPEATED_TEXT_RULES;
  const buckets = { session: bucketsOf(sessionRule), network: bucketsOf(networkRule), site: bucketsOf(siteRule) };

  return (text, { session, address }) => {
    const fingerprint = fingerprintOf(text);
    const letters = fingerprint.length;
    // A text without letters, such as a row of emoji, is compared unchanged.
    const hash = createHash('sha256')
      .update(letters === 0 ? text : fingerprint)
      .digest('base64');
    const applied: { buckets: TokenBuckets; key: string }[] = [];
    if (session !== undefined) applied.push({ buckets: buckets.session, key: `${session} ${hash}` });
    if (letters >= networkRule.letters) {
      const network = networkKeys(address);
      const names = {
        current: `${network.current} ${hash}`,
        previous: () => {
          const previous = network.previous();
          return previous && `${previous} ${hash}`;
        },
      };
      applied.push({ buckets: buckets.network, key: migrateKey(names, buckets.network) });
    }
    if (letters >= siteRule.letters) applied.push({ buckets: buckets.site, key: hash });

    const taken = applied.filter((each) => each.buckets.take(each.key));
    return {
      isRepeated: taken.length < applied.length,
      uncount() {
        for (const each of taken) each.buckets.refund(each.key);
      },
    };
  };
}

/** The maximum number of compared characters. The length of a text is checked only after the comparison. */
const MAX_COMPARED = 11_000;

/**
 * Normalizes a text by removing the variations that disguise a repetition: case and width of letters, accents, digits,
 * punctuation, spaces, invisible characters, repeated letters, and all of a URL except its host. Returns an empty
 * string for a text without letters.
 */
export function fingerprintOf(text: string): string {
  return (
    text
      // Marks are removed first, because normalizing a long run of them would take quadratic time.
      .replaceAll(/\p{M}/gu, '')
      .slice(0, MAX_COMPARED)
      .normalize('NFKD')
      .toLowerCase()
      .replaceAll(/\bhttps?:\/\/(?:www\.)?([^\s/?#]+)\S*/g, ' $1 ')
      .replaceAll(/[^\p{L}]/gu, '')
      .replaceAll(/(.)\1+/gu, '$1')
  );
}
