import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { joinTestDatabase } from '../support/test-database.ts';
import { startTestSite, type TestSite } from '../support/test-site.ts';

let site: TestSite;

beforeEach(async () => {
  site = await startTestSite();
});

afterEach(() => site.close());

describe('GET /healthz and /readyz (api.md, Health)', () => {
  test.each(['/healthz', '/readyz'])(
    '%s of a healthy site returns 200 { status: "ok" }, which is not cacheable',
    async (url) => {
      const response = await site.ask.get(url);
      expect([response.statusCode, response.json()]).toEqual([200, { status: 'ok' }]);
      expect(response.headers['cache-control']).toBe('no-store');
    },
  );

  test.each(['/healthz', '/readyz'])('HEAD %s returns 200 without a body', async (url) => {
    const response = await site.app.inject({ method: 'HEAD', url });
    expect([response.statusCode, response.body]).toEqual([200, '']);
  });

  test('while the database is unavailable, /healthz returns 200 and /readyz returns 503', async () => {
    await site.database.simulateOutage();
    expect((await site.ask.get('/healthz')).statusCode).toBe(200);
    const ready = await site.ask.get('/readyz');
    expect([ready.statusCode, ready.json()]).toEqual([503, { status: 'unavailable' }]);
    expect(ready.body).not.toContain('test_');
  });

  test('while the database is read-only, /readyz returns 503, a vote returns 503 with Retry-After, and reads succeed', async () => {
    const { id } = await site.addProduct();
    await site.database.query(
      `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET default_transaction_read_only = on', current_database()); END $$`,
    );
    await endConnections(site);
    await expect.poll(async () => (await site.ask.get('/readyz')).json()).toEqual({ status: 'unavailable' });
    const headers = { 'x-user-session': 'session-of-a-reader' };
    const vote = await site.app.inject({ method: 'PUT', url: `/api/products/${id}/upvote`, headers });
    expect([vote.statusCode, vote.json().code]).toEqual([503, 'unavailable']);
    expect(vote.headers['retry-after']).toBe('2');
    expect((await site.ask.get('/api/products')).statusCode).toBe(200);
  });

  test('the site becomes ready again after the database server has closed its connections', async () => {
    await site.ask.get('/readyz');
    await endConnections(site);
    await expect.poll(async () => (await site.ask.get('/readyz')).statusCode).toBe(200);
  });
});

/**
 * Ends all client connections to the site's database. Autovacuum, which the tests' role may not terminate, continues.
 */
async function endConnections({ database }: TestSite): Promise<void> {
  const other = joinTestDatabase(database);
  const ended = await other.query<{ pid: number }>(
    `SELECT pid, pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()`,
  );
  const pids = ended.map(({ pid }) => pid);
  await expect
    .poll(() => other.query('SELECT FROM pg_stat_activity WHERE pid = ANY($1::integer[])', [pids]))
    .toEqual([]);
  await other.drop();
}
