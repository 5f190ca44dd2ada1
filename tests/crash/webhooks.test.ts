import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { AddedComment } from '../../src/contract/comments/schema.ts';
import { saveProducts } from '../../src/core/products/save-products.ts';
import { buildProduct } from '../support/build-product.ts';
import { CommandHarness } from '../support/command.ts';
import { installCommand } from '../support/installed-command.ts';
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts';
import { newSecret, startReceiver, verified, type WebhookReceiver } from '../support/webhook-receiver.ts';

const SECRET = newSecret(9);

const harness = new CommandHarness();
let database: TestDatabase;
let receiver: WebhookReceiver;
beforeAll(installCommand);
beforeEach(async () => {
  database = await createTestDatabase();
  receiver = await startReceiver();
});
afterEach(async () => {
  await harness.clear();
  await receiver.stop();
  await database.drop();
});

const serve = () =>
  harness.serve({
    DATABASE_URL: database.url,
    LOG_LEVEL: 'error',
    WEBHOOK_URL: receiver.url,
    WEBHOOK_SECRET: SECRET.text,
  });
const events = () => receiver.received.map((request) => verified(request, SECRET));
const commentIds = () => events().flatMap(({ data }) => ('commentId' in data ? data.commentId : []));

async function postSpam(address: string): Promise<string> {
  const response = await fetch(`${address}/api/comments`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-user-session': `session-${randomUUID()}` },
    body: JSON.stringify({ productId: 'tide', content: randomUUID(), website: 'https://spam.example' }),
  });
  return ((await response.json()) as AddedComment).comment.id;
}

test('events that a killed process has not delivered arrive after a restart', async () => {
  // The product's launch window has ended, and its day is not final yet, so the site reports only the comments.
  const createdAt = new Date(Date.now() - 25 * 3_600_000).toISOString();
  await saveProducts(database, [buildProduct({ id: 'tide', createdAt })]);
  receiver.respond = () => {};
  const site = await serve();
  const posted = await Promise.all(Array.from({ length: 8 }, () => postSpam(site.address)));
  // Four events are being sent, and the others wait.
  await expect.poll(commentIds).toHaveLength(4);
  site.process.kill('SIGKILL');
  await once(site.process, 'exit');
  receiver.respond = (response) => response.writeHead(204).end();
  const next = await serve();
  await expect.poll(() => new Set(commentIds())).toEqual(new Set(posted));
  next.process.kill('SIGTERM');
  expect(await next.exited).toMatchObject({ code: 0 });
});

test('two instances of the site report a scheduled launch as one event, and not before its time', async () => {
  const sites = await Promise.all([serve(), serve()]);
  const launchesAt = Date.now() + 2_000;
  await saveProducts(database, [buildProduct({ id: 'tide', createdAt: new Date(launchesAt).toISOString() })]);
  const launched = () => events().filter(({ type }) => type === 'product.launched');
  await expect.poll(launched, { interval: 20 }).not.toEqual([]);
  const lateMs = Date.now() - launchesAt;
  expect(launched()[0]).toMatchObject({ timestamp: new Date(launchesAt).toISOString(), data: { productId: 'tide' } });
  expect(lateMs).toBeGreaterThan(-100);
  // Makes each instance send one more event. A second event about the launch would have been sent before it.
  for (const { address } of sites) {
    // The site's clock follows the database's clock, but lags behind it by the latency of its last query.
    await expect.poll(async () => (await fetch(`${address}/api/products/tide`)).status).toBe(200);
    await postSpam(address);
  }
  await expect.poll(() => new Set(commentIds()).size).toBe(2);
  await expect.poll(() => database.query('SELECT FROM webhook_events WHERE delivered_at IS NULL')).toEqual([]);
  // An event may be sent more than once, always with the same id.
  const sent = receiver.received.filter((request) => verified(request, SECRET).type === 'product.launched');
  expect(new Set(sent.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
});
