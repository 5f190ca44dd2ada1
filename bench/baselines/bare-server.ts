import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readRecordedResponses } from './recorded-responses.ts';

/**
 * The upper bound for Node.js: a bare `node:http` server that looks up the path and sends a recorded response from
 * memory.
 */
const recorded = await readRecordedResponses();
const responses = new Map(
  recorded.map(({ path, bytes, headers }) => [path, { bytes, fields: Object.entries(headers).flat() }]),
);

const server = createServer((request, response) => {
  const found = responses.get(request.url ?? '');
  if (found === undefined) response.writeHead(404).end();
  else response.writeHead(200, found.fields).end(found.bytes);
});
server.listen(0, '127.0.0.1', () => {
  console.log(`Address http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
process.on('SIGTERM', () => process.exit());
