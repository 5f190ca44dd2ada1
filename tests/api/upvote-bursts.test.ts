import { afterAll, beforeAll, expect, test } from 'vitest';
import { listUpvoteBursts, saveUpvoteBursts } from '../../src/core/stats/upvote-bursts.ts';
import { createUpvoteBursts, type UpvoteBursts } from '../../src/server/limits/detect-bursts.ts';
import { newVisitor } from '../support/requests.ts';
import { silentLog } from '../support/silent-log.ts';
import { startTestSite, type TestSite } from '../support/test-site.ts';

let site: TestSite;
let bursts: UpvoteBursts;

const start = Date.now();

beforeAll(async () => {
  bursts = createUpvoteBursts({
    // All upvotes are in the same clock hour.
    now: () => start,
    log: silentLog,
    save: (found) => saveUpvoteBursts(site.database, found),
  });
  site = await startTestSite({ bursts });
});
afterAll(() => site.close());

function change(method: 'PUT' | 'DELETE', id: string, remoteAddress: string, headers = newVisitor()) {
  return site.app.inject({ method, url: `/api/products/${id}/upvote`, headers, remoteAddress });
}

test('upvotes of many sessions in one network are reported to the operator without an address, but upvotes from many networks are not', async () => {
  const [{ id }, scattered] = [await site.addProduct({ name: 'Tide' }), await site.addProduct()];
  const visitors = Array.from({ length: 23 }, newVisitor);
  await Promise.all(visitors.map((visitor, index) => change('PUT', id, `192.0.2.${index}`, visitor)));
  await Promise.all(visitors.map((visitor, index) => change('PUT', scattered.id, `10.0.${index}.1`, visitor)));
  // Withdrawn upvotes and upvotes of unknown products do not count.
  await Promise.all(visitors.slice(0, 2).map((visitor, index) => change('DELETE', id, `192.0.2.${index}`, visitor)));
  await Promise.all(visitors.map((visitor) => change('PUT', 'no-such-product', '192.0.2.1', visitor)));
  await bursts.flush();

  const found = await listUpvoteBursts(site.database, { since: new Date(0), limit: 9 });
  expect(found).toMatchObject([{ productId: id, productName: 'Tide', sessions: 21 }]);
  const rows = JSON.stringify(await site.database.query('SELECT * FROM upvote_bursts'));
  expect(rows).not.toMatch(/192\.0\.2|wAAC|session-/);
});
