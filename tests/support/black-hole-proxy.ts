import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A proxy between a client and a PostgreSQL server that can silently drop all data, like a broken network. */
export interface BlackHoleProxy {
  /** The server's URL through the proxy. */
  url: string;
  /** Starts to drop all data in both directions, without notifying either side. */
  dropTraffic(): void;
  /** Stops reading from open connections, so sent data stays in the operating system's buffers. */
  holdTraffic(): void;
  /** Forwards data again, except on connections that lost data or were opened while data was dropped. */
  restoreTraffic(): void;
  close(): Promise<void>;
}

export async function startBlackHoleProxy(databaseUrl: string): Promise<BlackHoleProxy> {
  const target = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  let isDropping = false;
  const server = createServer((client) => {
    sockets.add(client);
    // A client may disconnect at any time.
    client.on('error', () => {});
    if (isDropping) return;
    const upstream = connectTo(target);
    sockets.add(upstream);
    upstream.on('error', () => client.destroy());
    let isLost = false;
    const pass = (from: Socket, to: Socket) => {
      from.on('data', (data) => {
        isLost ||= isDropping;
        if (!isLost) to.write(data);
      });
      from.on('close', () => {
        // Ends the other side only after sending the data that arrived before the close.
        if (!isLost && !isDropping) to.end();
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
    dropTraffic() {
      isDropping = true;
    },
    holdTraffic() {
      for (const socket of sockets) socket.pause();
    },
    restoreTraffic() {
      isDropping = false;
      for (const socket of sockets) socket.resume();
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Connects to the server, through its Unix socket if the URL names a socket directory. */
function connectTo({ hostname, port, searchParams }: URL): Socket {
  const folder = searchParams.get('host');
  return folder === null
    ? connect(Number(port || 5432), hostname)
    : connect(`${folder}/.s.PGSQL.${searchParams.get('port') ?? (port || '5432')}`);
}
