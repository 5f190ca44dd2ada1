import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createLogLines } from '../../../tests/support/log-lines.ts';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts';
import { createChangeNotes } from './change-notes.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());
beforeEach(() => database.query('DELETE FROM changes'));

const change = (productId: string) => ({ productIds: [productId], commentIds: [], catalogue: false });
const noted = () => database.query<{ id: string; product_ids: string[] }>('SELECT id, product_ids FROM changes');

test('what could not be told yet is told later, together with what came in meanwhile, and is known as one’s own', async () => {
  const { log, text } = createLogLines();
  let tellings = 0;
  const notes = createChangeNotes(database, log, () => {
    tellings += 1;
  });
  await database.query('ALTER TABLE changes RENAME TO changes_away');
  notes.add(change('early'));
  await expect.poll(text).toContain('Other processes could not be told of changes yet');
  notes.add(change('late'));
  expect(tellings).toBe(0);
  await database.query('ALTER TABLE changes_away RENAME TO changes');
  await expect.poll(noted).toEqual([{ id: expect.any(String), product_ids: ['early', 'late'] }]);
  const [note] = await noted();
  expect(notes.isOwn(note?.id ?? '')).toBe(true);
  expect(notes.isOwn('another')).toBe(false);
  await notes.close();
  expect(tellings).toBe(1);
});

test('what is left when the site stops is told then', async () => {
  const notes = createChangeNotes(database, createLogLines().log);
  notes.add(change('last'));
  await notes.close();
  expect(await noted()).toMatchObject([{ product_ids: ['last'] }]);
});
