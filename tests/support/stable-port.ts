import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below the ports that Linux and macOS assign to connections and to servers that listen on port 0. */
const PORTS = { first: 20_000, count: 12_000 };
const PORTS_PER_PROCESS = 40;

let next = process.pid * PORTS_PER_PROCESS;

/** Finds a free port that the system assigns to no other program, so a test can release it and take it again. */
export async function stablePort(): Promise<number> {
  for (;;) {
    const port = PORTS.first + (next++ % PORTS.count);
    if (await isFree(port)) return port;
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch {
    return false;
  }
  server.close();
  await once(server, 'close');
  return true;
}
