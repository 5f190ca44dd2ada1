import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createLogLines } from '../../../tests/support/log-lines.ts';
import { createTestDatabase, joinTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts';
import { newSecret, startReceiver, verified, type WebhookReceiver } from '../../../tests/support/webhook-receiver.ts';
import type { WebhookEvent } from '../../contract/webhooks/schema.ts';
import type { Database } from '../../core/database/database.ts';
import { checkWebhooks } from '../../core/doctor/run-database-checks.ts';
import { HOUR_MS } from '../../core/runtime.ts';
import { listEvents, receiverOf, recordEvents, retryEvents } from '../../core/webhooks/outbox.ts';
import { deliverWebhooks, LEASE_TIMES, retryDelayMs, type WebhookDeliveries } from './deliver-webhooks.ts';

const SECRET = newSecret(7);

let database: TestDatabase;
let receiver: WebhookReceiver;
let running: WebhookDeliveries[];
/**
 * The clock of the deliveries, which only the tests advance. It starts ahead of the database's clock, by which events
 * are recorded, so new events are due.
 */
let time: number;
let lines: ReturnType<typeof createLogLines>;

beforeEach(async () => {
  database = await createTestDatabase();
  receiver = await startReceiver();
  running = [];
  time = Date.now() + 60_000;
  lines = createLogLines();
});
afterEach(async () => {
  vi.restoreAllMocks();
  await Promise.all(running.map((one) => one.close()));
  await receiver.stop();
  await database.drop();
});

const now = () => new Date(time);

function start(on: Database = database, authorization?: string): WebhookDeliveries {
  const target = { url: receiver.url, authorization, secrets: [SECRET.key] };
  // The lease lasts longer than `expect.poll` waits, so a process that stops must release it.
  const times = { pollMs: 10, leaseMs: 600_000, retryMs: 10 };
  const deliveries = deliverWebhooks(on, target, { log: lines.log, times, timeoutMs: 60_000, now });
  running.push(deliveries);
  return deliveries;
}

const held = (commentId: string): WebhookEvent => ({
  type: 'comment.held',
  timestamp: '2026-06-01T12:00:00.000Z',
  data: { commentId, productId: 'tide' },
});
const record = (...ids: string[]) => database.transaction((sql) => recordEvents(sql, ids.map(held)));
const receivedIds = () => receiver.received.map(({ body }) => JSON.parse(body).data.commentId);
const states = async () => (await listEvents(database, { limit: 100 })).map(({ state }) => state);

test('each event arrives once and is signed', async () => {
  for (const id of ['a', 'b', 'c']) await record(id);
  start();
  await expect.poll(receivedIds).toHaveLength(3);
  expect(receivedIds().toSorted()).toEqual(['a', 'b', 'c']);
  expect(receiver.received.map((request) => verified(request, SECRET).type)).toEqual(Array(3).fill('comment.held'));
  await expect.poll(states).toEqual(Array(3).fill('delivered'));
  await record('d');
  await expect.poll(receivedIds).toHaveLength(4);
});

test('an event of a transaction that rolls back is never sent', async () => {
  const failing = database.transaction(async (sql) => {
    await recordEvents(sql, [held('lost')]);
    throw new Error('the disk is full');
  });
  await expect(failing).rejects.toThrow('the disk is full');
  start();
  await record('kept');
  await expect.poll(receivedIds).toEqual(['kept']);
});

test('an event that was recorded before the clock was set back is sent', async () => {
  await record('a');
  time = Date.now() - 2 * HOUR_MS;
  start();
  await expect.poll(receivedIds).toEqual(['a']);
});

test('if several processes deliver events, each event is delivered by one of them', async () => {
  const others = [joinTestDatabase(database), joinTestDatabase(database)];
  const all = [start(), ...others.map((other) => start(other))];
  const ids = Array.from({ length: 60 }, (_, index) => `event-${index}`);
  for (const id of ids) await record(id);
  await expect.poll(async () => (await states()).filter((state) => state === 'delivered').length).toBe(60);
  expect(receivedIds().toSorted()).toEqual(ids.toSorted());
  await Promise.all(all.map((one) => one.close()));
  running = [];
  for (const other of others) await other.drop();
});

describe('outages of the receiver', () => {
  test('attempts back off exponentially while the receiver is down, and the receiver gets its events afterwards', async () => {
    await receiver.stop();
    await record('a');
    const deliveries = start();
    let failed = 0;
    // After the last attempt the event is not due, so no attempt is under way when the receiver resumes.
    for (let next = time, end = time + HOUR_MS; next < end; ) {
      time = next;
      await expect.poll(() => deliveries.attempts().failed).toBeGreaterThan(failed);
      failed = deliveries.attempts().failed;
      const [event] = await listEvents(database, { limit: 1 });
      next = Date.parse(event?.nextAttemptAt ?? '');
    }
    expect(failed).toBeGreaterThan(8);
    expect(failed).toBeLessThan(14);
    expect(await checkWebhooks(database, receiver, now())).toMatchObject({
      status: 'warning',
      message: expect.stringMatching(/^no delivery has succeeded since .*\(ECONNREFUSED\); 1 waiting, 0 expired$/),
    });
    await receiver.resume();
    time += HOUR_MS;
    await expect.poll(states).toEqual(['delivered']);
    expect(receivedIds()).toEqual(['a']);
    expect(await checkWebhooks(database, receiver, now())).toMatchObject({ status: 'ok' });
  });

  test('a receiver that was down for a day gets its expired events only after `webhooks retry`', async () => {
    receiver.respond = (response) => response.writeHead(500).end();
    await record('a');
    const deliveries = start();
    await expect.poll(() => deliveries.attempts().failed).toBe(1);
    const [event] = await listEvents(database, { limit: 1 });
    time = Date.parse(event?.createdAt ?? '') + 24 * HOUR_MS - 1_000;
    await expect.poll(() => deliveries.attempts()).toEqual({ delivered: 0, failed: 2, expired: 1 });
    expect(await states()).toEqual(['expired']);
    receiver.respond = (response) => response.writeHead(200).end();
    expect(await retryEvents(database, receiverOf(receiver), now())).toBe(1);
    await expect.poll(states).toEqual(['delivered']);
  });

  test('an event that expired before the site started is not sent', async () => {
    await record('a');
    time += 24 * HOUR_MS;
    start();
    await expect.poll(states).toEqual(['expired']);
    expect(receiver.received).toEqual([]);
    expect(await checkWebhooks(database, receiver, now())).toMatchObject({
      status: 'warning',
      message: 'not delivered within 24 hours: 1',
    });
  });
});

test('a receiver that hangs on one event still gets others', async () => {
  receiver.respond = () => {};
  start();
  await record('a');
  await expect.poll(receivedIds).toEqual(['a']);
  receiver.respond = (response) => response.writeHead(204).end();
  await record('b');
  await expect.poll(states).toEqual(['delivered', 'waiting']);
});

test('a receiver that hangs gets the event again after the timeout', async () => {
  const timeout = new AbortController();
  vi.spyOn(AbortSignal, 'timeout').mockReturnValueOnce(timeout.signal);
  receiver.respond = () => {};
  await record('a');
  const deliveries = start();
  await expect.poll(receivedIds).toEqual(['a']);
  receiver.respond = (response) => response.writeHead(204).end();
  timeout.abort();
  await expect.poll(() => deliveries.attempts().failed).toBe(1);
  time += 10_000;
  await expect.poll(states).toEqual(['delivered']);
  expect(receivedIds()).toEqual(['a', 'a']);
});

test('while a receiver hangs on other events, the status already shows that deliveries fail', async () => {
  const timeout = new AbortController();
  vi.spyOn(AbortSignal, 'timeout').mockReturnValueOnce(timeout.signal);
  receiver.respond = () => {};
  await record(...Array.from({ length: 10 }, (_, index) => `event-${index}`));
  const deliveries = start();
  await expect.poll(receivedIds).toHaveLength(4);
  timeout.abort();
  await expect.poll(() => deliveries.status().failingSince).toEqual(now());
  await expect.poll(() => deliveries.attempts()).toEqual({ delivered: 0, failed: 1, expired: 0 });
});

test('at most four requests are open at the same time', async () => {
  const open: (() => void)[] = [];
  receiver.respond = (response) => open.push(() => response.writeHead(204).end());
  await record(...Array.from({ length: 9 }, (_, index) => `event-${index}`));
  start();
  await expect.poll(() => open.length).toBe(4);
  for (let finished = 0; finished < 9; finished += 1) {
    expect(open.length).toBeLessThanOrEqual(finished + 4);
    await expect.poll(() => open.length).toBeGreaterThan(finished);
    open[finished]?.();
  }
  await expect.poll(async () => (await states()).every((state) => state === 'delivered')).toBe(true);
});

test('410 Gone stops deliveries, which doctor reports; `webhooks retry` or another URL, user or password resumes them', async () => {
  receiver.respond = (response) => response.writeHead(410).end();
  await record('a');
  const deliveries = start();
  await expect.poll(lines.text).toContain('410 Gone, so deliveries are stopped');
  await record('b');
  time += HOUR_MS;
  expect(await checkWebhooks(database, receiver, now())).toMatchObject({
    status: 'failed',
    message: expect.stringMatching(/^the receiver responded 410 Gone at /),
  });
  expect(await checkWebhooks(database, { url: `${receiver.url}/other` }, now())).toMatchObject({ status: 'ok' });
  expect(receivedIds()).toEqual(['a']);
  expect(deliveries.attempts()).toEqual({ delivered: 0, failed: 1, expired: 0 });
  receiver.respond = (response) => response.writeHead(204).end();
  expect(await retryEvents(database, receiverOf(receiver), now())).toBe(2);
  await expect.poll(states).toEqual(['delivered', 'delivered']);
  receiver.respond = (response) => response.writeHead(410).end();
  await record('c');
  await expect.poll(() => deliveries.attempts()).toEqual({ delivered: 2, failed: 2, expired: 0 });
  receiver.respond = (response) => response.writeHead(204).end();
  start(database, 'Basic YTpi');
  time += HOUR_MS;
  await expect.poll(states).toEqual(['delivered', 'delivered', 'delivered']);
});

test('an event that is read while 410 Gone arrives is not sent', async () => {
  let [reads, polls] = [0, 0];
  let respond = () => {};
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const slow: Database = {
    ...database,
    query: async (text, ...others) => {
      if (text.startsWith('SELECT EXISTS')) polls += 1;
      if (text.startsWith('SELECT id, type, body')) {
        reads += 1;
        if (reads === 2) await released;
      }
      return database.query(text, ...others);
    },
  };
  receiver.respond = (response) => {
    respond = () => response.writeHead(410).end();
  };
  await record('a');
  start(slow);
  await expect.poll(() => reads).toBe(2);
  await expect.poll(receivedIds).toEqual(['a']);
  respond();
  await expect.poll(lines.text).toContain('410 Gone, so deliveries are stopped');
  await record('b');
  const pollsBefore = polls;
  release();
  await expect.poll(() => polls).toBeGreaterThan(pollsBefore);
  expect(receivedIds()).toEqual(['a']);
});

test('a stopping site aborts its delivery, and another process sends the event immediately', async () => {
  receiver.respond = () => {};
  await record('a');
  const stopping = start();
  await expect.poll(receivedIds).toEqual(['a']);
  await stopping.close();
  receiver.respond = (response) => response.writeHead(204).end();
  start();
  await expect.poll(states).toEqual(['delivered']);
  expect(receivedIds()).toEqual(['a', 'a']);
  expect(lines.text()).not.toContain('Cannot deliver');
});

test('the first failure and the recovery are logged, without the URL and the secrets', async () => {
  receiver.respond = (response) => response.writeHead(500).end('a secret of the receiver');
  await record('a', 'b', 'c');
  const deliveries = start();
  await expect.poll(() => deliveries.attempts().failed).toBe(3);
  const logged = (msg: string) => lines.lines().filter((line) => line.msg === msg);
  await expect.poll(() => logged('Cannot deliver webhooks; retrying each event for 24 hours')).toHaveLength(1);
  expect(logged('Cannot deliver webhooks; retrying each event for 24 hours')).toEqual([
    expect.objectContaining({ type: 'comment.held', attempt: 1, failure: 'status 500' }),
  ]);
  receiver.respond = (response) => response.writeHead(204).end();
  time += 10_000;
  await expect.poll(() => deliveries.attempts().delivered).toBe(3);
  await expect.poll(() => logged('Webhook deliveries have recovered')).toHaveLength(1);
  for (const hidden of ['127.0.0.1', '/hook', SECRET.text.slice(6), 'a secret of the receiver'])
    expect(lines.text()).not.toContain(hidden);
});

test('the outbox is polled every 500 ms; retry delays double from 5 s to an hour, minus up to half', () => {
  expect(LEASE_TIMES.pollMs).toBe(500);
  const longest = Array.from({ length: 12 }, (_, failed) => retryDelayMs(failed, () => 0) / 1_000);
  expect(longest).toEqual([5, 10, 20, 40, 80, 160, 320, 640, 1280, 2560, 3600, 3600]);
  expect(retryDelayMs(0, () => 0.999_999)).toBeCloseTo(2_500, -1);
});
