import { once } from 'node:events';
import { createServer } from 'node:net';
import { StartError } from './start-error.ts';

/**
 * Finds out whether a server could listen there, before a database is made and started for it. The server finds out again when
 * it listens: somebody else may come in between.
 * @throws StartError
 */
export async function probeAddress(host: string, port: number, setting?: 'PORT' | 'METRICS_PORT'): Promise<void> {
  const server = createServer();
  try {
    server.listen({ host, port });
    await once(server, 'listening');
  } catch (error) {
    throw StartError.ofListening(error, host, port, setting);
  }
  server.close();
  await once(server, 'close');
}
