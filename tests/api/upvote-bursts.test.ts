import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { HOUR_MS } from '../../src/core/runtime.ts';
import { listUpvoteBursts, saveUpvoteBursts, type UpvoteBurst } from '../../src/core/stats/upvote-bursts.ts';
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
  site = await startTestSite({ bursts: () => bursts });
});
afterAll(() => site.close());

function change(method: 'PUT' | 'DELETE', id: string, remoteAddress: string, headers = newVisitor(), at = site) {
  return at.app.inject({ method, url: `/api/products/${id}/upvote`, headers, remoteAddress });
}

test('upvotes of many sessions in one network are reported as a burst without an address, but upvotes from many networks are not', async () => {
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

test("the hour of a burst contains its votes even if this machine's clock is ahead of the database's", async () => {
  // The database's clock shows the middle of the previous hour.
  const middle = Math.floor(start / HOUR_MS) * HOUR_MS - HOUR_MS / 2;
  let detected: UpvoteBursts = bursts;
  const other: TestSite = await startTestSite({
    databaseClock: { offsetMs: middle - start },
    bursts(now) {
      const save = (found: readonly UpvoteBurst[]) => saveUpvoteBursts(other.database, found);
      detected = createUpvoteBursts({ now: () => now().getTime(), log: silentLog, save });
      return detected;
    },
  });
  onTestFinished(() => other.close());
  const { id } = await other.addProduct({ createdAt: '2026-01-01T00:00:00.000Z' });
  await Promise.all(Array.from({ length: 20 }, () => change('PUT', id, '192.0.2.1', newVisitor(), other)));
  await detected.flush();
  const [burst] = await listUpvoteBursts(other.database, { since: new Date(0), limit: 9 });
  const votes = await other.database.query<{ created_at: Date }>('SELECT created_at FROM upvotes');
  expect(burst).toMatchObject({ productId: id, sessions: 20 });
  const hours = votes.map(({ created_at: at }) => Math.floor(at.getTime() / HOUR_MS) * HOUR_MS);
  expect(new Set(hours)).toEqual(new Set([Date.parse(burst?.hour ?? '')]));
});
