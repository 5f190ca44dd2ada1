import { randomUUID } from 'node:crypto';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import pg from 'pg';

/**
 * The fastest simple design for upvotes: `node:http` without a framework, and one prepared statement per request, which
 * needs no explicit transaction.
 */
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 16 });

const UPVOTE = {
  name: 'upvote',
  text: `WITH added AS (
      INSERT INTO upvotes (id, product_id, user_session) VALUES ($1, $2, $3)
      ON CONFLICT (product_id, user_session) DO NOTHING RETURNING product_id
    )
    UPDATE product_counts SET upvotes = upvotes + (SELECT count(*) FROM added) WHERE product_id = $2 RETURNING upvotes`,
};

const PATH = /^\/api\/products\/([^/]+)\/upvote$/;

const server = createServer((request, response) => {
  const [, productId] = PATH.exec(request.url ?? '') ?? [];
  const session = request.headers['x-user-session'];
  if (request.method !== 'PUT' || productId === undefined || session === undefined) return send(response, 400, {});
  pool.query<{ upvotes: number }>({ ...UPVOTE, values: [randomUUID(), productId, session] }).then(
    ({ rows: [row] }) => send(response, 200, { upvoted: true, upvotes: row?.upvotes }),
    () => send(response, 503, {}),
  );
});

function send(response: ServerResponse, status: number, content: object): void {
  const body = JSON.stringify(content);
  response
    .writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) })
    .end(body);
}

server.listen(0, '127.0.0.1', () => {
  console.log(`Address http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
process.on('SIGTERM', () => process.exit());
