import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { saveProducts } from '../../src/core/products/save-products.ts';
import { buildProduct } from '../support/build-product.ts';
import { CommandHarness, type RunningCommand } from '../support/command.ts';
import { installCommand } from '../support/installed-command.ts';
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts';

const OK = '200';
const CHECK_INTERVAL_MS = 100;
const MAX_CHECK_AGE_MS = 1_000;
const VISITORS = 3;
/** The pause of a visitor between requests. Without it, the visitors would leave no CPU time for a new server. */
const READING_MS = 20;
const PRODUCTS = ['tide', 'ebb', 'surge'];

type Server = RunningCommand & { address: string };

const harness = new CommandHarness();
let database: TestDatabase;
beforeAll(async () => {
  await installCommand();
  database = await createTestDatabase();
  await saveProducts(
    database,
    PRODUCTS.map((id) => buildProduct({ id })),
  );
});
afterEach(() => harness.clear());
afterAll(() => database.drop());

/**
 * Creates a minimal load balancer, which polls `/readyz`, distributes requests over ready servers, keeps connections
 * alive, and never retries.
 */
function balance(agent: Agent) {
  const ready = new Set<string>();
  const checks = new Map<string, NodeJS.Timeout>();
  let checkedAt = performance.now();
  let turn = 0;
  async function check(address: string): Promise<void> {
    const begunAt = performance.now();
    const response = await ask(agent, address, 'GET', '/readyz').catch(() => '');
    checkedAt = begunAt;
    if (!checks.has(address)) return;
    if (response === OK) ready.add(address);
    else ready.delete(address);
  }
  return {
    ready,
    add(address: string) {
      checks.set(address, setInterval(check, CHECK_INTERVAL_MS, address));
    },
    remove(address: string) {
      clearInterval(checks.get(address));
      checks.delete(address);
      ready.delete(address);
    },
    async next(): Promise<string> {
      // After a pause of this process, a server may have stopped since its last check.
      if (performance.now() - checkedAt > MAX_CHECK_AGE_MS) await Promise.all([...checks.keys()].map(check));
      turn += 1;
      const address = [...ready][turn % ready.size];
      if (address === undefined) throw new Error('No server is ready');
      return address;
    },
  };
}

/** Sends a request. @returns `OK`, or a description of the failed response. */
async function ask(agent: Agent, address: string, method: string, path: string): Promise<string> {
  const headers = { 'x-user-session': 'session-of-a-restart', accept: 'text/html,application/json' };
  const asked = request(`${address}${path}`, { method, agent, headers }).end();
  // A connection that is lost during the response emits an error here, too.
  asked.on('error', () => {});
  const [response] = (await once(asked, 'response')) as [IncomingMessage];
  const body = await text(response);
  return response.statusCode === 200 ? OK : `${response.statusCode} ${method} ${path}: ${body}`;
}

test('no request fails while two servers are replaced one after the other under load', async () => {
  const settings = { DATABASE_URL: database.url, RATE_LIMITS: 'off', LOG_LEVEL: 'error', STOP_DELAY: '10' };
  const start = (): Promise<Server> => harness.serve(settings);
  const agent = new Agent({ keepAlive: true });
  const balancer = balance(agent);
  const responses = new Map<string, number>();
  let isOver = false;

  async function visit(visitor: number): Promise<void> {
    for (let turn = visitor; !isOver; turn += 1) {
      const product = PRODUCTS[turn % PRODUCTS.length];
      const [method, path] = [
        ['GET', '/'],
        ['GET', `/product/${product}`],
        ['PUT', `/api/products/${product}/upvote`],
        ['GET', `/api/products/${product}/comments`],
      ][turn % 4] ?? ['GET', '/'];
      const response = await visitNext(method ?? '', path ?? '').catch((error: Error) => error.message);
      responses.set(response, (responses.get(response) ?? 0) + 1);
      await delay(READING_MS);
    }
  }
  // If no server is ready, the promise rejects, as for a failed request.
  const visitNext = async (method: string, path: string) => ask(agent, await balancer.next(), method, path);
  const countResponses = () => [...responses.values()].reduce((sum, count) => sum + count, 0);
  const untilMore = async (count: number) => {
    const goal = countResponses() + count;
    await expect.poll(countResponses).toBeGreaterThan(goal);
  };

  const old = [await start(), await start()];
  for (const { address } of old) balancer.add(address);
  await expect.poll(() => balancer.ready.size).toBe(2);
  const visitors = Promise.all(Array.from({ length: VISITORS }, (_, visitor) => visit(visitor)));
  try {
    for (const server of old) {
      await untilMore(100);
      server.process.kill('SIGTERM');
      expect(await server.exited).toMatchObject({ code: 0 });
      balancer.remove(server.address);
      const next = await start();
      balancer.add(next.address);
      await expect.poll(() => balancer.ready.size).toBe(2);
    }
    await untilMore(100);
  } finally {
    isOver = true;
    await visitors;
    for (const address of [...balancer.ready]) balancer.remove(address);
    agent.destroy();
  }
  expect([...responses.keys()]).toEqual([OK]);
});

test('Ctrl-C stops the site immediately, without the STOP_DELAY for load balancers', async () => {
  const site = await harness.serve({ DATABASE_URL: database.url, LOG_LEVEL: 'error', STOP_DELAY: '300' });
  site.process.kill('SIGINT');
  expect(await site.exited).toMatchObject({ code: 0 });
});
