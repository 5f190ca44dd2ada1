import { createHash } from 'node:crypto';
import { createNetworkKeys, type NetworkKeys } from './network-keys.ts';
import { settle, type Visitor } from './rate-limiter.ts';
import { fingerprintOf } from './text-fingerprint.ts';
import { createTokenBuckets, type TokenBuckets } from './token-buckets.ts';

/**
 * From how many times within an hour on the same text is suspicious, whatever products it is posted on. Short texts are
 * alike by nature: 'Great!' is, among colleagues, and of a single person on the third product.
 */
const REPEATED_TEXT_RULES = {
  session: { times: 3, letters: 1 },
  network: { times: 5, letters: 20 },
  site: { times: 10, letters: 40 },
} as const;

/** What was found about one comment. */
export interface Repetition {
  isRepeated: boolean;
  /** To be called where no comment was made of it, such as a draft that was sent twice: it then does not count. */
  forget(): void;
}

/** Notices texts that come again and again; it keeps fingerprints in memory and for an hour. */
export type RepeatedTexts = (text: string, visitor: Visitor) => Repetition;

export function createRepeatedTexts(
  now: () => number,
  networkKeys: NetworkKeys = createNetworkKeys(now),
): RepeatedTexts {
  // A bucket holds one text less than is suspicious.
  const bucketsOf = ({ times }: { times: number }) => createTokenBuckets({ amount: times - 1, seconds: 3_600, now });
  const { session: sessionRule, network: networkRule, site: siteRule } = REPEATED_TEXT_RULES;
  const buckets = { session: bucketsOf(sessionRule), network: bucketsOf(networkRule), site: bucketsOf(siteRule) };

  return (text, { session, address }) => {
    const fingerprint = fingerprintOf(text);
    const letters = fingerprint.length;
    // What has no letters, such as a row of emoji, is compared as it is.
    const print = createHash('sha256')
      .update(letters === 0 ? text : fingerprint)
      .digest('base64');
    const applied: { buckets: TokenBuckets; key: string }[] = [];
    if (session !== undefined) applied.push({ buckets: buckets.session, key: `${session} ${print}` });
    if (letters >= networkRule.letters) {
      const network = networkKeys(address);
      const names = {
        current: `${network.current} ${print}`,
        previous: () => {
          const previous = network.previous();
          return previous && `${previous} ${print}`;
        },
      };
      applied.push({ buckets: buckets.network, key: settle(names, buckets.network) });
    }
    if (letters >= siteRule.letters) applied.push({ buckets: buckets.site, key: print });

    const taken = applied.filter((each) => each.buckets.take(each.key));
    return {
      isRepeated: taken.length < applied.length,
      forget() {
        for (const each of taken) each.buckets.giveBack(each.key);
      },
    };
  };
}
