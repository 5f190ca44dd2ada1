import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { stablePort } from './stable-port.ts';

/** A proxy to a site. `disconnect` closes open connections immediately and refuses new ones until `reconnect`. */
export interface InterruptibleProxy {
  address: string;
  disconnect(): Promise<void>;
  reconnect(): Promise<void>;
}

export async function startInterruptibleProxy(siteAddress: string): Promise<InterruptibleProxy> {
  const { hostname, port } = new URL(siteAddress);
  const sockets = new Set<Socket>();
  let server: Server;

  function pass(incoming: Socket): void {
    const outgoing = connect(Number(port), hostname);
    for (const [socket, other] of [
      [incoming, outgoing],
      [outgoing, incoming],
    ] as const) {
      sockets.add(socket);
      socket.pipe(other);
      // `disconnect` resets connections.
      socket.on('error', () => {});
      socket.on('close', () => {
        sockets.delete(socket);
        other.destroy();
      });
    }
  }

  const ownPort = await stablePort();
  async function listen(): Promise<void> {
    server = createServer(pass).listen(ownPort, hostname);
    await once(server, 'listening');
  }

  await listen();
  return {
    address: `http://${hostname}:${ownPort}`,
    async disconnect() {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
    reconnect: listen,
  };
}
