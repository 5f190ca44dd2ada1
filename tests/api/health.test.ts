import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startTestSite, type TestSite } from '../support/test-site.ts';

let site: TestSite;

beforeEach(async () => {
  site = await startTestSite();
});

afterEach(() => site.close());

describe('GET /healthz and /readyz (api.md, Endpoints)', () => {
  test.each(['/healthz', '/readyz'])('%s is 200 { status: "ok" } while all is well, kept by no cache', async (url) => {
    const answer = await site.ask.get(url);
    expect([answer.statusCode, answer.json()]).toEqual([200, { status: 'ok' }]);
    expect(answer.headers['cache-control']).toBe('no-store');
  });

  test.each(['/healthz', '/readyz'])('HEAD %s is 200 without a body', async (url) => {
    const answer = await site.app.inject({ method: 'HEAD', url });
    expect([answer.statusCode, answer.body]).toEqual([200, '']);
  });

  test('while the database is away the process still serves and is not ready: 200 and 503', async () => {
    await site.database.vanish();
    expect((await site.ask.get('/healthz')).statusCode).toBe(200);
    const ready = await site.ask.get('/readyz');
    expect([ready.statusCode, ready.json()]).toEqual([503, { status: 'unavailable' }]);
    expect(ready.body).not.toContain('test_');
  });

  test('it is ready again by itself when its connections were ended from the other side', async () => {
    await site.ask.get('/readyz');
    await endConnections(site);
    await expect.poll(async () => (await site.ask.get('/readyz')).statusCode).toBe(200);
  });
});

/** Ends every connection to the site's database but the one that asks for it. */
async function endConnections({ database }: TestSite): Promise<void> {
  await database.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE datname = current_database() AND pid <> pg_backend_pid()`,
  );
}
