import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { TrustedProxies } from '../../settings/trusted-proxies.ts';
import { networkPrefix } from './network-keys.ts';

/** A fifth of the process's limit: enough for an office of 150 people whose browsers open six connections each. */
const MAX_CONNECTIONS_PER_NETWORK = 1_000;

/**
 * Limits the open connections of each network, because one network could otherwise use up all connections. Further ones
 * are closed before anything is read from them. A trusted proxy has no limit, because all visitors share its
 * connections. A network is stored only while it has an open connection.
 */
export function limitConnectionsPerNetwork(
  { server }: Pick<FastifyInstance, 'server'>,
  trustProxy: TrustedProxies | undefined,
  max = MAX_CONNECTIONS_PER_NETWORK,
): void {
  const open = new Map<string, number>();
  server.prependListener('connection', (socket: Socket) => {
    const { remoteAddress } = socket;
    if (remoteAddress !== undefined && trustProxy?.(remoteAddress)) return;
    const network = networkPrefix(remoteAddress).join('.');
    const count = open.get(network) ?? 0;
    if (count >= max) return void socket.destroy();
    open.set(network, count + 1);
    socket.once('close', () => {
      const left = (open.get(network) ?? 1) - 1;
      if (left > 0) open.set(network, left);
      else open.delete(network);
    });
  });
}
