import { isIP, isIPv4 } from 'node:net';
import ipaddr from 'ipaddr.js';
import { quote } from './read-value.ts';

/** Returns whether `X-Forwarded-For` from this IP address, which may have a port, is trusted. */
export type TrustedProxies = (address: string) => boolean;

/** Named ranges, as in the `trust proxy` setting of Express. */
const NAMED_RANGES = new Map([
  ['loopback', ['127.0.0.0/8', '::1/128']],
  ['linklocal', ['169.254.0.0/16', 'fe80::/10']],
  ['uniquelocal', ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7']],
]);

type Range = [network: ipaddr.IPv4 | ipaddr.IPv6, bits: number];

/**
 * Parses IP addresses, CIDR ranges (`10.0.0.0/8`) and named ranges, separated by commas.
 * @throws Error that names the invalid part.
 */
export function readTrustedProxies(text: string): TrustedProxies {
  // A text with an `@` may be a misplaced URL. If its password contains a comma, an error would quote a part of it.
  const parts = (text.includes('@') ? [text] : text.split(','))
    .map((part) => part.trim())
    .filter((part) => part !== '');
  if (parts.length === 0) throw new Error(`${quote(text)} contains no address`);
  const ranges = parts.flatMap((part) => (NAMED_RANGES.get(part.toLowerCase()) ?? [part]).map(readRange));
  return (source) => {
    const address = withoutPort(source);
    if (!ipaddr.isValid(address)) return false;
    const candidate = ipaddr.process(address);
    return ranges.some(([network, bits]) => candidate.kind() === network.kind() && candidate.match(network, bits));
  };
}

/** Removes the port, which some proxies append: `192.0.2.1:4711`, `[2001:db8::1]:4711`. */
export function withoutPort(text: string): string {
  return /^\[([^\]]*)\](?::\d+)?$/.exec(text)?.[1] ?? /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(text)?.[1] ?? text;
}

function readRange(part: string): Range {
  const [address = '', bitsText, ...rest] = part.split('/');
  if (isIP(address) === 0 || address.includes('%') || rest.length > 0) {
    throw new Error(
      `${quote(part)} is not an address, a range such as 10.0.0.0/8, or one of ${[...NAMED_RANGES.keys()].join(', ')}`,
    );
  }
  const longest = isIPv4(address) ? 32 : 128;
  const bits = bitsText === undefined ? longest : /^\d{1,3}$/.test(bitsText) ? Number(bitsText) : Number.NaN;
  if (bits === 0) throw new Error(`${quote(part)} trusts everyone, so anyone could forge addresses`);
  if (!(bits <= longest))
    throw new Error(`${quote(part)} is not a range: the number after the slash must be from 1 to ${longest}`);
  // IPv4 addresses and ranges may be written as IPv4-mapped IPv6.
  const parsed = ipaddr.parse(address);
  if (parsed instanceof ipaddr.IPv6 && parsed.isIPv4MappedAddress()) {
    if (bits <= 96)
      throw new Error(`${quote(part)} is an IPv6 range that covers all IPv4 addresses: write an IPv4 range instead`);
    return [parsed.toIPv4Address(), bits - 96];
  }
  return [parsed, bits];
}
