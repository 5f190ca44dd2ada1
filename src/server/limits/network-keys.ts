import { createHmac, randomBytes } from 'node:crypto';
import { isIPv4 } from 'node:net';
import type { FastifyInstance } from 'fastify';
import ipaddr from 'ipaddr.js';
import { HOUR_MS } from '../../core/runtime.ts';
import { type TrustedProxies, withoutPort } from '../../settings/trusted-proxies.ts';

/** Two keyed hashes of a network: one with the current salt, and one with the previous salt. */
export interface NetworkKey {
  current: string;
  previous(): string | undefined;
}

export type NetworkKeys = (address: string | undefined) => NetworkKey;

const ROTATION_MS = HOUR_MS;

/**
 * Maps addresses to keys of their networks: an HMAC-SHA256 whose salt is random, stays in memory and is replaced every
 * hour. The address itself is not stored; after the salt has been discarded, a key cannot be linked to an address. The
 * previous salt stays in memory for another hour, so the limits are not reset when the salt changes.
 */
export function createNetworkKeys(now: () => number, prefixOf = networkPrefix): NetworkKeys {
  let salt = randomBytes(32);
  let previousSalt: Buffer | undefined;
  let madeAt = now();

  function rotate(): void {
    const age = now() - madeAt;
    if (age < ROTATION_MS) return;
    // After two hours without use, the old salt is discarded, because its buckets have refilled: no limit spans more
    // than an hour.
    previousSalt = age < 2 * ROTATION_MS ? salt : undefined;
    salt = randomBytes(32);
    madeAt = now();
  }

  return (address) => {
    rotate();
    const prefix = prefixOf(address);
    const olderSalt = previousSalt;
    return { current: keyOf(salt, prefix), previous: () => olderSalt && keyOf(olderSalt, prefix) };
  };
}

function keyOf(salt: Buffer, prefix: Uint8Array): string {
  return createHmac('sha256', salt).update(prefix).digest('base64');
}

/**
 * Returns the network of an address: the first `ipv4Bytes` bytes of IPv4 (even if mapped to IPv6), or the first 64 bits
 * of IPv6. A home or office commonly gets such an IPv6 prefix. Other values, such as a proxy's `unknown`, all count as
 * one network.
 */
export function networkPrefix(text = '', ipv4Bytes = 3): Uint8Array {
  // Splitting the text takes a third of the time that `ipaddr` takes to parse the text, and each write needs several
  // prefixes.
  if (isIPv4(text)) return new Uint8Array(text.split('.', ipv4Bytes).map(Number));
  const address = withoutPort(text);
  if (!ipaddr.isValid(address)) return new Uint8Array(0);
  const bytes = ipaddr.process(address).toByteArray();
  return Uint8Array.from(bytes.slice(0, bytes.length === 4 ? ipv4Bytes : 8));
}

/** Returns the whole address for IPv4, or the first 64 bits for IPv6. */
export function addressPrefix(text = ''): Uint8Array {
  return networkPrefix(text, 4);
}

/** The limit of a whole IPv6 /48, as a multiple of the limit of one network. */
export const PREFIX_48_LIMIT_FACTOR = 8;

/**
 * Returns the first 48 bits of IPv6, since one customer may have all 65,536 networks of a /48. For other addresses, the
 * result is empty.
 */
export function prefix48(text = ''): Uint8Array {
  const prefix = networkPrefix(text);
  return prefix.length === 8 ? prefix.slice(0, 6) : new Uint8Array(0);
}

/** Returns a client's network for limits on concurrent reads: an IPv6 /48, or an IPv4 address. */
export function clientNetworkOf({ ip }: { ip: string }): string {
  const whole48 = prefix48(ip);
  return Buffer.from(whole48.length > 0 ? whole48 : addressPrefix(ip)).toString('hex');
}

/**
 * Warns once if an untrusted address forwards requests. All visitors behind it share the rate limits of one network
 * and, even with RATE_LIMITS=off, its VOTES_PER_NETWORK. The address is not logged, because it may belong to a visitor
 * who forged the header.
 */
export function warnOfUntrustedProxy(app: FastifyInstance, isTrusted: TrustedProxies | undefined): void {
  let warned = false;
  app.addHook('onRequest', (request, _reply, done) => {
    done();
    if (warned || request.headers['x-forwarded-for'] === undefined) return;
    if (isTrusted?.(request.socket.remoteAddress ?? '')) return;
    warned = true;
    request.log.warn(
      'A request with X-Forwarded-For came from an address that TRUST_PROXY does not include, so the header was ignored. ' +
        'If the request came through your proxy, add the address of the proxy to TRUST_PROXY. Until then, all visitors behind the proxy share the rate limits and the VOTES_PER_NETWORK of one network.',
    );
  });
}
