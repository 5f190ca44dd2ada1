import { randomUUID } from 'node:crypto';
import Fastify from 'fastify';
import pg from 'pg';

/**
 * The usual design: one transaction per request, through a pool. It runs in its own process and database, with the same
 * tables, framework and number of connections as the site.
 */
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: Number(process.env.POOL_SIZE) });
const app = Fastify();

app.put<{ Params: { id: string } }>('/api/products/:id/upvote', (request) =>
  inTransaction(async (client) => {
    const { id } = request.params;
    const { rowCount } = await client.query(
      `INSERT INTO upvotes (id, product_id, user_session) VALUES ($1, $2, $3)
       ON CONFLICT (product_id, user_session) DO NOTHING`,
      [randomUUID(), id, request.headers['x-user-session']],
    );
    const { rows } = await client.query<{ upvotes: number }>(
      'UPDATE product_counts SET upvotes = upvotes + $2 WHERE product_id = $1 RETURNING upvotes',
      [id, rowCount],
    );
    return { upvoted: true, upvotes: rows[0]?.upvotes };
  }),
);

app.post<{ Body: { productId: string; content: string } }>('/api/comments', (request, reply) =>
  inTransaction(async (client) => {
    const { productId, content } = request.body;
    const { rows } = await client.query(
      'INSERT INTO comments (id, product_id, content) VALUES ($1, $2, $3) RETURNING *',
      [randomUUID(), productId, content],
    );
    await client.query('UPDATE product_counts SET comments = comments + 1 WHERE product_id = $1', [productId]);
    reply.code(201);
    return { comment: rows[0] };
  }),
);

// A single statement needs no explicit transaction.
app.post<{ Params: { id: string } }>('/api/comments/:id/like', async (request) => {
  const { rows } = await pool.query<{ likes: number }>(
    'UPDATE comments SET likes = likes + 1 WHERE id = $1 RETURNING likes',
    [request.params.id],
  );
  return { likes: rows[0]?.likes };
});

async function inTransaction<Result>(work: (client: pg.PoolClient) => Promise<Result>): Promise<Result> {
  const client = await pool.connect();
  try {
    await client.query('BEGIN');
    const result = await work(client);
    await client.query('COMMIT');
    return result;
  } catch (error) {
    await client.query('ROLLBACK');
    throw error;
  } finally {
    client.release();
  }
}

console.log(`Address ${await app.listen({ host: '127.0.0.1', port: 0 })}`);
