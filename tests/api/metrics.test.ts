import { randomUUID } from 'node:crypto';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { CONSOLE_API } from '../../src/contract/console/paths.ts';
import { inviteOperator } from '../../src/core/console/operators.ts';
import { beginSession } from '../../src/core/console/sessions.ts';
import { saveProducts } from '../../src/core/products/save-products.ts';
import { listEvents, receiverOf, recordEvents, recordFailure } from '../../src/core/webhooks/outbox.ts';
import { type RunningSite, serve } from '../../src/server/serve.ts';
import { readSettings } from '../../src/settings/settings.ts';
import { buildProduct } from '../support/build-product.ts';
import { openEvents } from '../support/event-client.ts';
import { createLogLines } from '../support/log-lines.ts';
import { newVisitor } from '../support/requests.ts';
import { createRenderer } from '../support/stub-renderer.ts';
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts';
import { newSecret, startReceiver } from '../support/webhook-receiver.ts';

const TOKEN = 'a-token-of-this-test';
const PROBE_PATH = '/api/products/path-of-a-visitor';

let database: TestDatabase;
let site: RunningSite;
let logText = () => '';

afterEach(async () => {
  await site.close();
  await database.drop();
});

/**
 * Starts a site with its own database, filled by `prepare`, on a free port. Its renderer is a stub, because these tests
 * need no pages.
 */
async function start(environment: Record<string, string>, prepare?: () => Promise<void>): Promise<void> {
  database = await createTestDatabase();
  await prepare?.();
  const { log, text } = createLogLines();
  logText = text;
  const settings = readSettings({ PORT: '0', DATABASE_URL: database.url, RATE_LIMITS: 'off', ...environment });
  site = await serve(settings, log, { createRenderer });
}

const ask = (path: string, headers: Record<string, string> = {}) => fetch(`${site.address}${path}`, { headers });
const authorization = (token: string) => ({ authorization: `Bearer ${token}` });

/** Returns the URL of the metrics, which the site logs when it starts. */
async function metricsAddress(): Promise<string> {
  await expect.poll(logText).toContain('Metrics are served at');
  return /Metrics are served at (http:\/\/[^"]+)/.exec(logText())?.[1] ?? '';
}

describe('GET /metrics (api.md, Health)', () => {
  test('returns 404 unless metrics are configured', async () => {
    await start({});
    expect((await ask('/metrics')).status).toBe(404);
    expect((await ask('/metrics', authorization(TOKEN))).status).toBe(404);
  });

  test('reports the time of the last scheduled backup', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'groundswell-metrics-'));
    await start({ METRICS_TOKEN: TOKEN, BACKUP_DIR: folder });
    const metrics = async () => (await ask('/metrics', authorization(TOKEN))).text();
    await expect.poll(metrics).toMatch(/^groundswell_backup_last_success_timestamp_seconds [1-9][\d.]{9,}$/m);
    expect(await metrics()).toMatch(/^groundswell_backup_failures_total 0$/m);
    expect(await readdir(folder)).toEqual([expect.stringMatching(/^groundswell-[0-9a-f]{8}-\d{8}T\d{6}Z\.backup$/)]);
    await rm(folder, { recursive: true });
  });

  test('reports the state of webhooks, and since when their receiver has been failing', async () => {
    const receiver = await startReceiver();
    await receiver.stop();
    const settings = { METRICS_TOKEN: TOKEN, WEBHOOK_URL: receiver.url, WEBHOOK_SECRET: newSecret(1).text };
    const failingSince = Math.floor(Date.now() / 1_000) - 60;
    // The site reads the state when it starts, and then only every 15 seconds.
    await start(settings, async () => {
      const timestamp = new Date().toISOString();
      await recordEvents(database, [{ type: 'comment.held', timestamp, data: { commentId: 'c', productId: 'p' } }]);
      const [{ id = '' } = {}] = await listEvents(database, { limit: 1 });
      const failed = { id, failure: 'refused', nextAttemptAt: new Date(), isGone: false };
      await recordFailure(database, receiverOf(receiver), failed, new Date(failingSince * 1_000));
    });
    const metrics = async () => (await ask('/metrics', authorization(TOKEN))).text();
    await expect.poll(metrics).toMatch(/^groundswell_webhook_attempts_total\{outcome="failed"\} [1-9]\d*$/m);
    await expect.poll(metrics).toMatch(/^groundswell_webhook_events_waiting 1$/m);
    expect((await metrics()).split('\n')).toContain(
      `groundswell_webhook_receiver_failing_since_timestamp_seconds ${failingSince}`,
    );
    expect(logText()).not.toContain(receiver.url);
  });

  test('is readable only with the token', async () => {
    await start({ METRICS_TOKEN: TOKEN });
    for (const headers of [{}, authorization('another-token-than-it'), authorization(''), { authorization: TOKEN }]) {
      const refused = await ask('/metrics', headers);
      expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
      expect(await refused.json()).toMatchObject({ status: 401, code: 'token_required' });
    }
    const shown = await ask('/metrics', authorization(TOKEN));
    expect([shown.status, shown.headers.get('cache-control')]).toEqual([200, 'no-store']);
    expect(shown.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
  });

  test('is served only on METRICS_PORT if that is set, and only to this machine if no token is set', async () => {
    await start({ METRICS_PORT: '0', HOST: '0.0.0.0' });
    const address = await metricsAddress();
    expect(new URL(address).hostname).toBe('127.0.0.1');
    expect((await fetch(address)).status).toBe(200);
    expect((await ask('/metrics')).status).toBe(404);
  });

  test('requires the token on METRICS_PORT as well', async () => {
    await start({ METRICS_PORT: '0', METRICS_TOKEN: TOKEN });
    const address = await metricsAddress();
    expect((await fetch(address)).status).toBe(401);
    expect((await fetch(address, { headers: authorization(TOKEN) })).status).toBe(200);
  });

  test('detects an unreachable database even without visitors, and counts the writes rejected from then on', async () => {
    await start({ METRICS_TOKEN: TOKEN });
    const lines = async () => (await (await ask('/metrics', authorization(TOKEN))).text()).split('\n');
    const rejected = ['upvotes', 'comments', 'likes'].map(
      (kind) => `groundswell_writes_rejected_total{kind="${kind}"} 0`,
    );
    // A busy machine may delay a read of changes for so long that the database counts as unreachable for a moment.
    await expect.poll(lines).toEqual(expect.arrayContaining(['groundswell_database_unreachable 0', ...rejected]));
    await database.simulateOutage();
    await expect.poll(lines).toContain('groundswell_database_unreachable 1');
    await fetch(`${site.address}/api/products/tide/upvote`, { method: 'PUT', headers: newVisitor() });
    expect(await lines()).toContain('groundswell_writes_rejected_total{kind="upvotes"} 1');
  });

  test('counts requests to the console, but does not time them, because its streams stay open', async () => {
    await start({ METRICS_TOKEN: TOKEN }, async () => void (await inviteOperator(database, 'ada', new Date())));
    const headers = {
      cookie: `console_session=${await beginSession(database, 'ada', new Date())}`,
      'sec-fetch-site': 'same-origin',
    };
    const stream = await openEvents(`${site.address}${CONSOLE_API.events}`, headers);
    await stream.waitForEvent('ready', {});
    await fetch(`${site.address}${CONSOLE_API.signOut}`, { method: 'POST', headers });
    await stream.closed;
    const read = async () => (await ask('/metrics', authorization(TOKEN))).text();
    await expect.poll(read).toContain('requests_total{method="POST",route="/console",status="204"} 1');
    await expect.poll(read).toContain('requests_total{method="GET",route="/console",status="200"} 1');
    expect(await read()).not.toMatch(/duration_seconds_sum\{method="\w+",route="(none|\/console)"\}/);
  });

  test('reports requests, writes, connections, drift and the process, and identifies no visitor', async () => {
    await start({ METRICS_TOKEN: TOKEN });
    await saveProducts(database, [buildProduct({ id: 'something' })]);
    const session = `session-${randomUUID()}`;
    for (const id of ['something', 'nothing']) {
      await fetch(`${site.address}/api/products/${id}/upvote`, {
        method: 'PUT',
        headers: { 'x-user-session': session },
      });
    }
    await ask(PROBE_PATH);
    await ask('/nowhere/at/all');
    // The first response is a miss, the second is sent by the route, and later ones by the fast path.
    for (let asked = 0; asked < 4; asked += 1) await (await ask('/api/products')).text();
    const read = async () => (await ask('/metrics', authorization(TOKEN))).text();
    for (const line of [
      'groundswell_http_requests_total{method="PUT",route="/api/products/:id/upvote",status="404"} 1',
      'groundswell_http_requests_total{method="GET",route="/api/products/:id",status="404"} 1',
      'groundswell_http_request_duration_seconds_count{method="GET",route="/api/products/:id"} 1',
      'groundswell_http_requests_total{method="GET",route="/api/products",status="200"} 4',
      'groundswell_http_request_duration_seconds_count{method="GET",route="/api/products"} 4',
      'groundswell_write_queue_depth{kind="upvotes"} 0',
      'groundswell_write_batch_size_count{kind="upvotes"} 1',
      'groundswell_write_transactions_total{kind="upvotes",outcome="committed"} 1',
      'groundswell_database_connections{state="waiting"} 0',
      'groundswell_database_connections{state="max"} 10',
      'groundswell_count_drift 0',
    ]) {
      // A request may be counted after its response has arrived.
      await expect.poll(async () => (await read()).split('\n')).toContain(line);
    }
    const text = await read();
    expect(text).toMatch(/^process_resident_memory_bytes \d+$/m);
    expect(text).toMatch(/^nodejs_eventloop_lag_p99_seconds [\d.e-]+$/m);
    for (const secret of [session, 'path-of-a-visitor', '/nowhere', '127.0.0.1', TOKEN]) {
      expect(text).not.toContain(secret);
    }
    expect(logText()).not.toContain(session);
  });
});
