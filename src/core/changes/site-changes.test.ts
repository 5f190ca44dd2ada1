import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { silentLog } from '../../../tests/support/silent-log.ts';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts';
import { CoreError } from '../core-error.ts';
import type { Change } from './change.ts';
import { followSite, type SiteChanges } from './site-changes.ts';

let database: TestDatabase;
let opened: SiteChanges[] = [];
beforeEach(async () => {
  database = await createTestDatabase();
});
afterEach(async () => {
  for (const changes of opened) await changes.close();
  opened = [];
  await database.drop();
});

/** A process that follows the site, and what it heard; it loses its database while `state.away`. */
async function follow() {
  const state = { away: false };
  const changes = followSite(
    {
      ...database,
      async query(text, values) {
        if (state.away) throw new CoreError('unavailable', 'The database is away');
        return database.query(text, values);
      },
    },
    silentLog,
  );
  opened.push(changes);
  const heard: Change[] = [];
  const deaf = vi.fn();
  changes.follow({ onChange: (change) => heard.push(change), onGap() {}, onDeaf: deaf });
  await changes.ready;
  return { state, changes, heard, deaf };
}

const COMMENT = '00000000-0000-4000-8000-000000000001';

test('a process hears of its own writes at once and once, and another of all that is in a note', async () => {
  const [writer, reader] = [await follow(), await follow()];
  writer.changes.onWrite({ productIds: ['a'], commentIds: [COMMENT], catalogue: false });
  expect(writer.heard).toHaveLength(1);
  await expect.poll(() => reader.heard).toMatchObject([{ productIds: ['a'], commentIds: [COMMENT], catalogue: false }]);
  expect(writer.heard).toHaveLength(1);
});

test('a process that lost the database catches up with all that others wrote meanwhile, and tells what it wrote itself', async () => {
  const [lost, other] = [await follow(), await follow()];
  lost.state.away = true;
  await expect.poll(() => lost.deaf.mock.lastCall?.[0]).toEqual(expect.any(Number));
  const heardUpTo = lost.changes.heardUpTo();
  for (const id of ['a', 'b', 'c']) {
    other.changes.onWrite({ productIds: [id], catalogue: false });
    await expect
      .poll(async () => (await database.query('SELECT 1 FROM changes WHERE $1 = ANY(product_ids)', [id])).length)
      .toBe(1);
  }
  lost.changes.onWrite({ productIds: ['own'], catalogue: false });
  expect(lost.changes.heardUpTo()).toBe(heardUpTo);
  lost.state.away = false;
  await expect.poll(() => lost.heard.flatMap(({ productIds }) => productIds).sort()).toEqual(['a', 'b', 'c', 'own']);
  await expect.poll(() => other.heard.flatMap(({ productIds }) => productIds)).toContain('own');
  expect(lost.deaf.mock.lastCall).toEqual([undefined]);
  expect(lost.changes.heardUpTo()).toBeGreaterThan(heardUpTo ?? 0);
});
