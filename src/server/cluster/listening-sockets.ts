import { lookup } from 'node:dns/promises';
import net from 'node:net';
import { getSystemErrorName } from 'node:util';
import type { FastifyInstance, FastifyListenOptions } from 'fastify';
import { StartError } from '../start-error.ts';

/** A bound socket as Node's core represents it. A server's `listen` accepts it as the option `handle`. */
export interface SocketHandle {
  listen(backlog: number): number;
  getsockname(found: { address?: string; port?: number }): number;
  close(): void;
}

/**
 * The internal function with which `node:cluster` binds; there is no public way to bind a socket without accepting
 * connections.
 */
type CreateHandle = (address: string, port: number, family: number, fd: number, flags: number) => SocketHandle | number;
const { _createServerHandle: createHandle } = net as unknown as { _createServerHandle: CreateHandle };

/**
 * Maximum number of connections that the kernel queues until they are accepted. Linux caps it at
 * `net.core.somaxconn`. With Node's default of 511, half of a thousand simultaneous connections would wait a second for
 * a retry, or be reset.
 */
const BACKLOG = 4_096;

const listenTextResolver = (address: string) => `Listening on ${address}`;

/** Replaces `::`, as Fastify replaces 0.0.0.0: not every browser can open the address of all interfaces. */
const linkable = (address: string) => address.replace('//[::]:', '//127.0.0.1:');

/** Binds the site's port and accepts connections. @returns the site's address. @throws StartError */
export async function listenOnPort(app: FastifyInstance, host: string, port: number): Promise<string> {
  try {
    return linkable(await app.listen({ host, port, backlog: BACKLOG, listenTextResolver }));
  } catch (error) {
    throw StartError.ofListening(error, host, port);
  }
}

/**
 * Binds the site's socket for all workers. The primary process keeps the socket open, but never accepts connections.
 * While no worker runs, the kernel therefore queues connections instead of refusing them, and no other program can take
 * the port.
 * @throws StartError
 */
export async function bindSocket(host: string, port: number): Promise<SocketHandle> {
  try {
    const { address, family } = await lookup(host);
    const handle = createHandle(address, port, family, -1, 0);
    if (typeof handle === 'number') throw systemError(handle);
    // If the address is in use, libuv reports this not when it binds, but in the next call.
    const errorNumber = handle.getsockname({});
    if (errorNumber === 0) return handle;
    handle.close();
    throw systemError(errorNumber);
  } catch (error) {
    throw StartError.ofListening(error, host, port);
  }
}

/** Accepts connections on the socket that the primary process bound. @returns the site's address. @throws StartError */
export async function listenOnSocket(app: FastifyInstance, socket: SocketHandle): Promise<string> {
  const bound: { address?: string; port?: number } = {};
  socket.getsockname(bound);
  const { address = '', port = 0 } = bound;
  try {
    // Fastify does not know the option `handle`, but passes it on to Node, which does.
    const options: FastifyListenOptions & { handle: SocketHandle } = {
      handle: socket,
      host: address,
      port,
      listenTextResolver,
    };
    const found = await app.listen(options);
    // With a handle, Node ignores the option `backlog`, so a second call of `listen` sets it.
    socket.listen(BACKLOG);
    return linkable(found);
  } catch (error) {
    throw StartError.ofListening(error, address, port);
  }
}

function systemError(errorNumber: number): Error {
  const code = getSystemErrorName(errorNumber);
  return Object.assign(new Error(`bind ${code}`), { code });
}
