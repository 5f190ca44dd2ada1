import { Readable } from 'node:stream';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { revokeOperator } from '../../src/core/console/operators.ts';
import { blockedStatements } from '../support/blocked-statements.ts';
import { addOperator, type TestOperator } from '../support/operator.ts';
import { startTestSite, type TestSite } from '../support/test-site.ts';

let site: TestSite;
let ada: TestOperator;

beforeAll(async () => {
  site = await startTestSite({ ownConnections: true });
  // The console remains open after the other operator is revoked.
  ada = await addOperator(site);
});
afterAll(() => site.close());

test('a change is refused if access is revoked before the end of its body, even of an empty one', async () => {
  const [kept, removed] = [await site.addProduct(), await site.addProduct()];
  await ada.json('POST', '/products/remove', { ids: [removed.id] });
  const { id } = await ada.lastEntry();
  for (const [url, body] of [
    ['/products/remove', JSON.stringify({ ids: [kept.id] })],
    [`/audit/${id}/undo`, ''],
  ] as const) {
    const { cookie } = await addOperator(site, 'grace');
    async function* slowBody() {
      await revokeOperator(site.database, 'grace');
      yield body;
    }
    const refused = await site.app.inject({
      method: 'POST',
      url: `/api/console${url}`,
      headers: { cookie, 'sec-fetch-site': 'same-origin', 'content-type': 'application/json' },
      payload: Readable.from(slowBody(), { objectMode: false }),
    });
    expect([url, refused.statusCode, refused.json().code]).toEqual([url, 401, 'not_signed_in']);
  }
  expect((await site.ask.get(`/api/products/${kept.id}`)).statusCode).toBe(200);
  expect((await site.ask.get(`/api/products/${removed.id}`)).statusCode).toBe(404);
});

test.each([
  ['reads', 'LOCK TABLE products IN ACCESS EXCLUSIVE MODE', 'wanted.slug'],
  ['last writes', 'LOCK TABLE products IN SHARE MODE; LOCK TABLE comments', 'INSERT INTO products'],
])(
  'once access is revoked, a running download breaks off, and an import whose %s wait changes nothing',
  async (_what, lock, waiting) => {
    const grace = await addOperator(site, 'grace');
    await site.database.transaction(async (sql) => {
      await sql.query(lock);
      const sent = grace.ask('POST', '/import?name=launches.csv&kind=csv', Buffer.from('name\nToo late\n'), {
        'content-type': 'application/octet-stream',
      });
      let downloadStatus: number | undefined;
      void grace.ask('GET', '/backup').then(({ statusCode }) => {
        downloadStatus = statusCode;
      });
      const blocked = async () => (await blockedStatements(site.database)).join();
      await expect.poll(blocked).toContain(waiting);
      await expect.poll(blocked).toContain('count(*) AS rows FROM');
      await revokeOperator(site.database, 'grace');
      await expect.poll(() => downloadStatus).toBe(401);
      // The locks are still held.
      expect((await sent).body).toContain('"You have been signed out. Nothing was imported."');
    });
    expect((await site.ask.get('/api/products/too-late')).statusCode).toBe(404);
    expect(await ada.lastEntry()).toMatchObject({ action: 'console revoke' });
  },
);
