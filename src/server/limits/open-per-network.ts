import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { CoreError } from '../../core/core-error.ts';
import type { StreamLimits } from '../../settings/rate-limits.ts';
import type { TrustedProxies } from '../../settings/trusted-proxies.ts';
import { networkPrefix, PREFIX_48_LIMIT_FACTOR, prefix48 } from './network-keys.ts';

/** Limits the connections or streams that each network has open at the same time. */
interface OpenPerNetwork {
  /** Returns how many more connections or streams this network may open. */
  remaining(address: string | undefined): number;
  /** @returns a function to call once after closing, or undefined at the limit. */
  open(address: string | undefined): (() => void) | undefined;
}

/**
 * Creates limits of `max` per network and `max * PREFIX_48_LIMIT_FACTOR` per IPv6 /48. A network is stored only while
 * it has an open connection or stream.
 */
function createOpenPerNetwork(max: number): OpenPerNetwork {
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

/** A tenth of the connections that a process allows by default: enough for 150 people with six connections each. */
const CONNECTIONS_PER_NETWORK = 1_000;

/** The number of connections that a network keeps for requests while all its streams are open. */
const CONNECTIONS_FOR_REQUESTS = 500;

/**
 * Returns how many connections a network may have open. Each stream uses one, so the limit grows with the permitted
 * number of streams.
 */
export function maxConnectionsPerNetwork({ perNetwork = 0 }: StreamLimits): number {
  return Math.max(CONNECTIONS_PER_NETWORK, CONNECTIONS_FOR_REQUESTS + perNetwork);
}

/**
 * Limits the open connections of each network, because one network could otherwise use up all connections. Connections
 * above the limit are closed before anything is read from them. A trusted proxy has no limit, because all visitors
 * share its connections.
 */
export function limitConnectionsPerNetwork(
  { server }: Pick<FastifyInstance, 'server'>,
  trustProxy: TrustedProxies | undefined,
  max: number,
): void {
  const connections = createOpenPerNetwork(max);
  server.prependListener('connection', (socket: Socket) => {
    const { remoteAddress } = socket;
    if (remoteAddress !== undefined && trustProxy?.(remoteAddress)) return;
    const release = connections.open(remoteAddress);
    if (release) socket.once('close', release);
    else socket.destroy();
  });
}

/** Limits concurrent streams per process and per network. */
interface StreamLimiter {
  /**
   * @returns a function that releases the slot; call it once.
   * @throws CoreError `rate_limited` at the limit of the network, `overloaded` at the limit of the process.
   */
  acquire(address: string | undefined): () => void;
  /** Returns how many more streams this network may open, or undefined if there is no limit. */
  remaining(address: string | undefined): number | undefined;
}

export function createStreamLimiter({ perProcess, perNetwork }: StreamLimits): StreamLimiter {
  const byNetwork = createOpenPerNetwork(perNetwork ?? Number.POSITIVE_INFINITY);
  let openStreams = 0;
  return {
    remaining: (address) => (perNetwork === undefined ? undefined : byNetwork.remaining(address)),
    acquire(address) {
      if (byNetwork.remaining(address) <= 0) {
        throw new CoreError('rate_limited', 'Too many streams are open from this network. Please close one of them.');
      }
      if (openStreams >= perProcess) {
        throw new CoreError('overloaded', 'Too many streams are open right now. Please try again in a moment.');
      }
      const release = byNetwork.open(address);
      openStreams += 1;
      return () => {
        release?.();
        openStreams -= 1;
      };
    },
  };
}
