import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** Between a client and a PostgreSQL server: a network that can lose everything without a word. */
export interface SwallowingProxy {
  /** The server's URL, by way of the proxy. */
  url: string;
  /** From now on nothing comes through, in either direction, and nobody hears that anything ended. */
  swallow(): void;
  /** New connections come through again. What was lost stays lost. */
  heal(): void;
  close(): Promise<void>;
}

export async function startSwallowingProxy(databaseUrl: string): Promise<SwallowingProxy> {
  const target = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  let isSwallowing = false;
  const server = createServer((client) => {
    sockets.add(client);
    // A client that gives up is no news here.
    client.on('error', () => {});
    if (isSwallowing) return;
    const upstream = connectTo(target);
    sockets.add(upstream);
    upstream.on('error', () => client.destroy());
    let isLost = false;
    const pass = (from: Socket, to: Socket) => {
      from.on('data', (data) => {
        isLost ||= isSwallowing;
        if (!isLost) to.write(data);
      });
      from.on('close', () => {
        if (!isLost && !isSwallowing) to.destroy();
      });
    };
    pass(client, upstream);
    pass(upstream, client);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = new URL(databaseUrl);
  url.hostname = '127.0.0.1';
  url.port = String((server.address() as AddressInfo).port);
  url.searchParams.delete('host');
  return {
    url: url.href,
    swallow() {
      isSwallowing = true;
    },
    heal() {
      isSwallowing = false;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

/** By its socket file, where the URL names the folder of one. */
function connectTo({ hostname, port, searchParams }: URL): Socket {
  const folder = searchParams.get('host');
  return folder === null
    ? connect(Number(port || 5432), hostname)
    : connect(`${folder}/.s.PGSQL.${searchParams.get('port') ?? (port || '5432')}`);
}
