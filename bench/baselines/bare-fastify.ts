import Fastify from 'fastify';
import { readRecordedResponses } from './recorded-responses.ts';

/** A bare Fastify server: one static route per path, which sends a recorded response from memory, without hooks. */
const app = Fastify();
for (const { path, bytes, headers } of await readRecordedResponses()) {
  app.get(path, (_request, reply) => reply.headers(headers).send(bytes));
}
console.log(`Address ${await app.listen({ host: '127.0.0.1', port: 0 })}`);
process.on('SIGTERM', () => process.exit());
