import { networkPrefix, PREFIX_48_LIMIT_FACTOR, prefix48 } from './network-keys.ts';

/** Limits what each network has open at the same time, such as connections. */
interface OpenPerNetwork {
  /** Returns how many more this network may open. */
  remaining(address: string | undefined): number;
  /** @returns a function to call once after closing, or undefined at the limit. */
  open(address: string | undefined): (() => void) | undefined;
}

/** A whole IPv6 /48 has a multiple of the limit. A network is stored only while it has something open. */
export function createOpenPerNetwork(max: number): OpenPerNetwork {
  const counts = new Map<string, number>();
  const countOf = (key: string) => counts.get(key) ?? 0;

  function limitsOf(address: string | undefined): { key: string; limit: number }[] {
    const whole48 = prefix48(address).join('.');
    const network = { key: networkPrefix(address).join('.'), limit: max };
    return whole48 === '' ? [network] : [network, { key: whole48, limit: max * PREFIX_48_LIMIT_FACTOR }];
  }

  function add(key: string, change: 1 | -1): void {
    const count = countOf(key) + change;
    if (count > 0) counts.set(key, count);
    else counts.delete(key);
  }

  const leftOf = (limits: ReturnType<typeof limitsOf>) =>
    Math.min(...limits.map(({ key, limit }) => limit - countOf(key)));

  return {
    remaining: (address) => leftOf(limitsOf(address)),
    open(address) {
      const limits = limitsOf(address);
      if (leftOf(limits) <= 0) return undefined;
      for (const { key } of limits) add(key, 1);
      return () => {
        for (const { key } of limits) add(key, -1);
      };
    },
  };
}
