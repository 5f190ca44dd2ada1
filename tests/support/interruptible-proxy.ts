import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

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

  async function listen(ownPort: number): Promise<number> {
    server = createServer(pass).listen(ownPort, hostname);
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  }

  const ownPort = await listen(0);
  return {
    address: `http://${hostname}:${ownPort}`,
    async disconnect() {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
    reconnect: async () => void (await listen(ownPort)),
  };
}
