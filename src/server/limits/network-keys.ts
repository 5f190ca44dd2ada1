import { createHmac, randomBytes } from 'node:crypto';
import ipaddr from 'ipaddr.js';

/** A network by names that tell nothing about it: today's, and the one that it had under the salt before. */
export interface NetworkKey {
  current: string;
  previous(): string | undefined;
}

export type NetworkKeys = (address: string | undefined) => NetworkKey;

const ROTATION_MS = 60 * 60 * 1_000;

/**
 * Turns addresses into keys of their networks: an HMAC-SHA256 whose salt is random, lives in memory alone and is replaced
 * every hour. The address itself is kept nowhere; once its salt is gone, nobody can tell whether a key was made of it.
 * The salt before the current one is kept for as long, so that limits do not all begin anew on the hour.
 */
export function createNetworkKeys(now: () => number): NetworkKeys {
  let salt = randomBytes(32);
  let previousSalt: Buffer | undefined;
  let madeAt = now();

  function rotate(): void {
    const age = now() - madeAt;
    if (age >= 0 && age < ROTATION_MS) return;
    // Unused for two hours, or the clock was set back: nothing under the old salt is worth keeping.
    previousSalt = age >= 0 && age < 2 * ROTATION_MS ? salt : undefined;
    salt = randomBytes(32);
    madeAt = now();
  }

  return (address) => {
    rotate();
    const prefix = networkPrefix(address);
    const olderSalt = previousSalt;
    return { current: keyOf(salt, prefix), previous: () => olderSalt && keyOf(olderSalt, prefix) };
  };
}

function keyOf(salt: Buffer, prefix: Uint8Array): string {
  return createHmac('sha256', salt).update(prefix).digest('base64');
}

/**
 * The network that an address belongs to: the first 24 bits of IPv4 (as IPv6 may carry it, too), the first 64 of IPv6,
 * which is what one home or office is given. What is no address, such as a proxy's `unknown`, is one network of its own.
 */
export function networkPrefix(text = ''): Uint8Array {
  const address = withoutPort(text);
  if (!ipaddr.isValid(address)) return new Uint8Array(0);
  const bytes = ipaddr.process(address).toByteArray();
  return Uint8Array.from(bytes.slice(0, bytes.length === 4 ? 3 : 8));
}

/** Some proxies write the port as well: `192.0.2.1:4711`, `[2001:db8::1]:4711`. */
function withoutPort(text: string): string {
  return /^\[([^\]]*)\](?::\d+)?$/.exec(text)?.[1] ?? /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(text)?.[1] ?? text;
}
