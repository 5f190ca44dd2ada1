import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { HttpConnection, requestText } from '../../bench/harness/http-connection.ts';
import { checkCounts } from '../../src/core/counts/check-counts.ts';
import type { Database } from '../../src/core/database/database.ts';
import { saveProducts } from '../../src/core/products/save-products.ts';
import { buildProduct } from '../support/build-product.ts';

/** The writes that the site has acknowledged, which must be stored. Other writes may or may not be stored. */
export interface Acknowledged {
  /** Whether a session has upvoted a product, by product and session. */
  upvotes: Map<string, boolean>;
  commentIds: Set<string>;
  likes: number;
  /** The number of likes that were sent, but not acknowledged. */
  unknownLikes: number;
  /** The number of responses by status. 0 stands for no response. */
  statuses: Map<number, number>;
}

export interface WriteRecorder {
  acknowledged: Acknowledged;
  /** Resolves after `count` more writes have been acknowledged. */
  acknowledges(count: number): Promise<void>;
  stop(): Promise<void>;
}

const WORKERS = 16;
const PAUSE_MS = 20;

/**
 * Starts visitors who write continuously, even while the site is down, and records the responses. `address` returns the
 * site's current address.
 */
export function startWriteRecorder(
  address: () => string,
  productIds: readonly string[],
  likedId: string,
): WriteRecorder {
  const acknowledged: Acknowledged = {
    upvotes: new Map(),
    commentIds: new Set(),
    likes: 0,
    unknownLikes: 0,
    statuses: new Map(),
  };
  let successes = 0;
  let stopped = false;

  async function work(worker: number): Promise<void> {
    let connection: HttpConnection | undefined;
    let session = newSession();
    for (let turn = worker; !stopped; turn += 1) {
      const productId = productIds[turn % productIds.length] ?? '';
      connection ??= new HttpConnection(address());
      const status = await write(connection, turn, productId, session).catch(() => 0);
      acknowledged.statuses.set(status, (acknowledged.statuses.get(status) ?? 0) + 1);
      if (status === 200 || status === 201) successes += 1;
      else {
        if (status === 0) connection = undefined;
        // The failed write may still take effect later, so the next write uses a new session.
        session = newSession();
        await sleep(PAUSE_MS);
      }
    }
    connection?.close();
  }

  async function write(connection: HttpConnection, turn: number, productId: string, session: string): Promise<number> {
    if (turn % 5 === 0) return comment(connection, productId, session);
    if (turn % 5 === 1) return like(connection, session);
    const key = `${productId} ${session}`;
    const upvoted = acknowledged.upvotes.get(key) !== true;
    acknowledged.upvotes.delete(key);
    const request = requestText(upvoted ? 'PUT' : 'DELETE', `/api/products/${productId}/upvote`, session);
    const { status } = await connection.send(request);
    if (status === 200) acknowledged.upvotes.set(key, upvoted);
    return status;
  }

  async function comment(connection: HttpConnection, productId: string, session: string): Promise<number> {
    const text = JSON.stringify({ productId, content: `Written down as ${randomUUID()}` });
    const { status, body } = await connection.send(requestText('POST', '/api/comments', session, text));
    if (status === 201) acknowledged.commentIds.add(JSON.parse(body).comment.id);
    return status;
  }

  async function like(connection: HttpConnection, session: string): Promise<number> {
    acknowledged.unknownLikes += 1;
    const { status } = await connection.send(requestText('POST', `/api/comments/${likedId}/like`, session));
    if (status === 200) {
      acknowledged.unknownLikes -= 1;
      acknowledged.likes += 1;
    }
    return status;
  }

  const workers = Promise.all(Array.from({ length: WORKERS }, (_, worker) => work(worker)));
  return {
    acknowledged,
    async acknowledges(count) {
      for (const goal = successes + count; successes < goal; ) await sleep(PAUSE_MS);
    },
    async stop() {
      stopped = true;
      await workers;
    },
  };
}

function newSession(): string {
  return `session-${randomUUID()}`;
}

/** Adds products, the first of which has a comment with the id `likedId`. */
export async function addProducts(database: Database, ids: readonly string[], likedId: string): Promise<void> {
  await saveProducts(
    database,
    ids.map((id) => buildProduct({ id })),
  );
  const comment = [likedId, ids[0], 'Like me'];
  await database.query('INSERT INTO comments (id, product_id, content) VALUES ($1, $2, $3)', comment);
  await database.query('UPDATE product_counts SET comments = 1 WHERE product_id = $1', [ids[0]]);
}

/** Expects that all acknowledged writes to a site with these products are stored, and that counts match the rows. */
export async function expectStored(
  database: Database,
  recorders: readonly WriteRecorder[],
  { products, likedId }: { products: number; likedId: string },
): Promise<void> {
  const upvotes = await database.query<{ key: string }>("SELECT product_id || ' ' || user_session AS key FROM upvotes");
  const comments = await database.query<{ id: string }>('SELECT id FROM comments');
  const [liked] = await database.query<{ likes: number }>('SELECT likes FROM comments WHERE id = $1', [likedId]);
  const stored = new Set(upvotes.map(({ key }) => key));
  const ids = new Set(comments.map(({ id }) => id));
  let likes = 0;
  let unknownLikes = 0;
  for (const { acknowledged } of recorders) {
    expect([...acknowledged.upvotes].filter(([key, upvoted]) => stored.has(key) !== upvoted)).toEqual([]);
    expect([...acknowledged.commentIds].filter((id) => !ids.has(id))).toEqual([]);
    likes += acknowledged.likes;
    unknownLikes += acknowledged.unknownLikes;
  }
  expect(liked?.likes).toBeGreaterThanOrEqual(likes);
  expect(liked?.likes).toBeLessThanOrEqual(likes + unknownLikes);
  expect(await checkCounts(database, { after: '', limit: 100 })).toMatchObject({ checked: products, wrong: [] });
}
