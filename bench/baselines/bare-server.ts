import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A recorded response of the site, with its headers and body. */
export interface RecordedResponse {
  path: string;
  /** The bytes of the body, encoded in Base64. */
  body: string;
  headers: Record<string, string>;
}

/**
 * The upper bound for Node.js: a bare `node:http` server that looks up the path and sends a recorded response from
 * memory.
 */
const recorded: RecordedResponse[] = JSON.parse(await readFile(process.env.RESPONSES ?? '', 'utf8'));
const responses = new Map(
  recorded.map(({ path, body, headers }) => {
    const bytes = Buffer.from(body, 'base64');
    return [path, { bytes, headers: [...Object.entries(headers).flat(), 'content-length', String(bytes.length)] }];
  }),
);

const server = createServer((request, response) => {
  const found = responses.get(request.url ?? '');
  if (found === undefined) response.writeHead(404).end();
  else response.writeHead(200, found.headers).end(found.bytes);
});
server.listen(0, '127.0.0.1', () => {
  console.log(`Address http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
process.on('SIGTERM', () => process.exit());
