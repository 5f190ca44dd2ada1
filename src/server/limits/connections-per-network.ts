import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { TrustedProxies } from '../../settings/trusted-proxies.ts';
import { createOpenPerNetwork } from './open-per-network.ts';

/** A fifth of the process's limit: enough for an office of 150 people whose browsers open six connections each. */
const MAX_CONNECTIONS_PER_NETWORK = 1_000;

/**
 * Limits the open connections of each network, because one network could otherwise use up all connections. Further ones
 * are closed before anything is read from them. A trusted proxy has no limit, because all visitors share its
 * connections.
 */
export function limitConnectionsPerNetwork(
  { server }: Pick<FastifyInstance, 'server'>,
  trustProxy: TrustedProxies | undefined,
  max = MAX_CONNECTIONS_PER_NETWORK,
): void {
  const connections = createOpenPerNetwork(max);
  server.prependListener('connection', (socket: Socket) => {
    const { remoteAddress } = socket;
    if (remoteAddress !== undefined && trustProxy?.(remoteAddress)) return;
    const noteClosed = connections.open(remoteAddress);
    if (noteClosed) socket.once('close', noteClosed);
    else socket.destroy();
  });
}
