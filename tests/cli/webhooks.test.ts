import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type OutboxEvent, recordEvents } from '../../src/core/webhooks/outbox.ts';
import { jsonOf, runProgram } from '../support/program.ts';
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts';
import { newSecret, startReceiver, verified, type WebhookReceiver } from '../support/webhook-receiver.ts';

const SECRET = newSecret(5);

let database: TestDatabase;
let receiver: WebhookReceiver;
beforeEach(async () => {
  database = await createTestDatabase();
  receiver = await startReceiver();
});
afterEach(async () => {
  await receiver.stop();
  await database.drop();
});

const settings = () => ({ DATABASE_URL: database.url, WEBHOOK_URL: receiver.url, WEBHOOK_SECRET: SECRET.text });
const run = (...parameters: string[]) => runProgram(['webhooks', ...parameters], settings());
const held = (commentId: string) => ({
  type: 'comment.held' as const,
  timestamp: '2026-06-01T12:00:00.000Z',
  data: { commentId, productId: 'tide' },
});

describe('webhooks test', () => {
  test('sends a signed event and prints the response status', async () => {
    expect(await run('test')).toEqual({
      code: 0,
      stdout: 'The receiver accepted the test with status 204.\n',
      stderr: '',
    });
    const [request] = receiver.received;
    if (request === undefined) throw new Error('The receiver got no request');
    expect(verified(request, SECRET)).toMatchObject({ type: 'webhook.test', data: {} });
    expect(await jsonOf(['webhooks', 'test'], settings())).toEqual({ status: 204 });
  });

  test('fails with the reason, without the URL, if the receiver refuses the event', async () => {
    receiver.respond = (response) => response.writeHead(403).end();
    expect(await run('test')).toEqual({
      code: 1,
      stdout: '',
      stderr: 'groundswell: the receiver did not accept the test: status 403\n',
    });
  });

  test('exits 2 if no receiver is configured', async () => {
    const { code, stderr } = await runProgram(['webhooks', 'test'], {});
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: 'groundswell: No webhook receiver is configured. Set WEBHOOK_URL and WEBHOOK_SECRET.\n',
    });
  });
});

test('webhooks list shows the state of each event, and retry queues undelivered ones', async () => {
  expect(await run('list')).toMatchObject({ code: 0, stdout: 'No webhooks match.\n' });
  await database.transaction((sql) => recordEvents(sql, [held('a')]));
  await database.query(
    "UPDATE webhook_events SET created_at = now() - interval '2 minutes', delivered_at = now(), next_attempt_at = NULL, last_failure = 'status 500'",
  );
  await database.transaction((sql) => recordEvents(sql, [held('b')]));
  await database.query(
    "UPDATE webhook_events SET created_at = now() - interval '1 minute', next_attempt_at = NULL, attempts = 9, last_failure = 'status 500' WHERE delivered_at IS NULL",
  );
  await database.transaction((sql) => recordEvents(sql, [held('c')]));
  const list = async (...flags: string[]) =>
    (await jsonOf<{ events: OutboxEvent[] }>(['webhooks', 'list', ...flags], settings())).events;
  expect((await list()).map(({ state, attempts, lastFailure }) => [state, attempts, lastFailure])).toEqual([
    ['waiting', 0, null],
    ['expired', 9, 'status 500'],
    ['delivered', 0, null],
  ]);
  expect(await list('--undelivered')).toHaveLength(2);
  expect((await run('list')).stdout).toMatch(/comment\.held +expired +9 +status 500/);
  expect((await run('retry')).stdout).toBe('Queued 2 webhooks. The site sends them while it runs.\n');
  expect((await list('--undelivered')).map(({ state }) => state)).toEqual(['waiting', 'waiting']);
});

test('doctor reports a receiver that has responded 410 Gone as a failure', async () => {
  await database.transaction((sql) => recordEvents(sql, [held('a')]));
  const webhooks = async () => {
    const { stdout } = await runProgram(['doctor', '--json'], settings());
    const { findings }: { findings: { check: string; status: string }[] } = JSON.parse(stdout);
    return findings.find(({ check }) => check === 'webhooks');
  };
  expect(await webhooks()).toMatchObject({ status: 'ok', message: 'no delivery is failing; 1 waiting' });
  await database.query(
    "INSERT INTO webhook_receivers (url_digest, gone_at) VALUES (encode(sha256(convert_to($1, 'UTF8')), 'hex'), now())",
    [receiver.url],
  );
  expect(await webhooks()).toMatchObject({ status: 'failed', message: expect.stringContaining('410 Gone') });
});
