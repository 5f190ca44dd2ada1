import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { HttpConnection, requestText } from '../../bench/harness/http-connection.ts';
import type { ProductDetail } from '../../src/contract/products/schema.ts';
import type { Upvoted } from '../../src/contract/upvotes/schema.ts';
import { type Core, createCore } from '../../src/core/core.ts';
import { CoreError } from '../../src/core/core-error.ts';
import { checkCounts } from '../../src/core/counts/check-counts.ts';
import { lockCounts } from '../../src/core/counts/lock-counts.ts';
import { listenOnPort } from '../../src/server/cluster/listening-sockets.ts';
import { expectProblem } from '../support/expect-problem.ts';
import { isCitus } from '../support/is-citus.ts';
import { newVisitor } from '../support/requests.ts';
import { joinTestDatabase } from '../support/test-database.ts';
import { startTestSite, type TestSite } from '../support/test-site.ts';

let site: TestSite;
let address: string;

beforeAll(async () => {
  site = await startTestSite();
  address = await listenOnPort(site.app, '127.0.0.1', 0);
});
afterAll(() => site.close());

const newProduct = async () => (await site.addProduct({ id: `p-${randomUUID()}` })).id;
const newSession = () => `session-${randomUUID()}`;
const shownUpvotes = async (id: string) => (await site.ask.json<ProductDetail>(`/api/products/${id}`)).product.upvotes;
const drift = async () => (await checkCounts(site.database, { after: '', limit: 10_000 })).wrong;

/** Sends each list of requests in order over its own connection, and all lists simultaneously. */
async function askAll(lists: readonly (readonly string[])[]): Promise<{ status: number; body: string }[]> {
  const connections = lists.map(async (requests) => {
    const connection = new HttpConnection(address);
    const responses = [];
    for (const request of requests) responses.push(await connection.send(request));
    connection.close();
    return responses;
  });
  return (await Promise.all(connections)).flat();
}

describe('simultaneous upvotes over real connections', () => {
  test('after 100 sessions have added or withdrawn an upvote 100 times each, the count is the number of upvotes that remain', async () => {
    const id = await newProduct();
    const sessions = Array.from({ length: 100 }, newSession);
    // Each session uses four connections, so its own requests also overtake each other.
    const lists = sessions.flatMap((session) =>
      Array.from({ length: 4 }, () =>
        Array.from({ length: 25 }, () =>
          requestText(Math.random() < 0.5 ? 'PUT' : 'DELETE', `/api/products/${id}/upvote`, session),
        ),
      ),
    );
    const responses = await askAll(lists);
    expect(responses).toHaveLength(10_000);
    expect(responses.filter(({ status }) => status !== 200)).toEqual([]);
    const counts = responses.map(({ body }) => JSON.parse(body).upvotes);
    expect(Math.min(...counts)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...counts)).toBeLessThanOrEqual(100);

    let upvoted = 0;
    for (const session of sessions) {
      upvoted += ((await site.core.getUpvoted([id], session)) satisfies Upvoted).upvoted.length;
    }
    expect(await shownUpvotes(id)).toBe(upvoted);
    expect(await drift()).toEqual([]);
  });
});

// On Citus, deadlocks are possible (decision 18).
describe.skipIf(isCitus)('two processes on one database', () => {
  test('write to the same products while some are removed, without deadlocks, errors or wrong counts', async () => {
    const ids = await Promise.all(Array.from({ length: 12 }, newProduct));
    const other = joinTestDatabase(site.database);
    let retries = 0;
    const observer = { committed() {}, failed() {}, rejected() {}, retried: () => (retries += 1) };
    const cores = [site.database, other].map((database) => createCore(database, { observeWrites: () => observer }));
    const errors: unknown[] = [];
    const hammer = async (core: Core, worker: number) => {
      const session = `session-worker-${worker % 20}`;
      for (let turn = 0; turn < 40; turn += 1) {
        // One process writes in order, the other in reverse order.
        const productId = ids[(worker % 2 === 0 ? turn : 1_000 - turn) % ids.length] ?? '';
        const upvoted = (turn + worker) % 3 > 0;
        await Promise.all([
          core.setUpvote({ productId, session, upvoted }),
          turn % 4 === 0 && core.addComment({ productId, content: `Turn ${turn}` }, { session }),
        ]).catch((error: unknown) => {
          if (!(error instanceof CoreError) || error.code !== 'product_not_found') errors.push(error);
        });
      }
    };
    const workers = cores.flatMap((core, index) =>
      Array.from({ length: 20 }, (_, worker) => hammer(core, worker * 2 + index)),
    );
    await site.database.transaction(async (sql) => {
      const removed = ids.slice(0, 3);
      await lockCounts(sql, removed);
      await sql.query('DELETE FROM products WHERE id = ANY($1::text[])', [removed]);
    });
    await Promise.all(workers);
    await other.drop();
    expect(errors).toEqual([]);
    expect(retries).toBe(0);
    expect(await drift()).toEqual([]);
  });
});

describe('a full queue', () => {
  test('returns 503 with Retry-After, completes the queued writes, and accepts more afterwards (api.md, Errors)', async () => {
    const productId = await newProduct();
    const comment = () => ({ productId, content: 'In the queue' });
    onTestFinished(() => void vi.restoreAllMocks());
    // Stops the clock, because the queue refuses comments that wait too long, for example on a busy machine.
    vi.spyOn(performance, 'now').mockReturnValue(performance.now());
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const { query } = site.database;
    vi.spyOn(site.database, 'query').mockImplementation(async (text, ...rest) => {
      if (text.includes('INSERT INTO comments')) await released;
      return query(text, ...rest);
    });
    // The first comment is already being written when the others arrive, so they remain in the queue.
    const taken = [site.core.addComment(comment(), { session: newSession() })];
    await expect.poll(() => site.core.queuedWrites().comments).toBe(0);
    for (let index = 0; index < 2_000; index += 1) {
      taken.push(site.core.addComment(comment(), { session: newSession() }));
    }
    await expect.poll(() => site.core.queuedWrites().comments).toBe(2_000);
    const refused = await site.ask.post('/api/comments', comment(), newVisitor());
    expectProblem(refused, 503, 'overloaded');
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    // Upvotes have their own queue.
    expect((await site.ask.put(`/api/products/${await newProduct()}/upvote`, newVisitor())).statusCode).toBe(200);
    release();
    await Promise.all(taken);
    expect((await site.ask.post('/api/comments', comment(), newVisitor())).statusCode).toBe(201);
    const { product } = await site.ask.json<ProductDetail>(`/api/products/${productId}`);
    expect(product.comments).toBe(2_002);
  });
});
