import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildProduct } from '../../../tests/support/build-product.ts';
import { differencesOf, rulesAt, vote } from '../../../tests/support/launch-site.ts';
import { recordStatements } from '../../../tests/support/recording-database.ts';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts';
import type { Database } from '../database/database.ts';
import { saveProducts } from '../products/save-products.ts';
import { systemRuntime } from '../runtime.ts';
import { finalizeDue } from './finalize.ts';
import { getLeaderboard } from './get-leaderboard.ts';
import { readTally } from './read-tally.ts';
import { placeLaunches } from './update-boards.ts';

const DAY = '2026-06-01';
const LAUNCHED_AT = `${DAY}T10:00:00.000Z`;
const RULES = rulesAt('2026-06-04T00:00:00.000Z');
/** The ids of more launches than one batch contains, in the order of the tally. */
const IDS = Array.from({ length: 1_001 }, (_, index) => `p-${index}`).sort();

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
  await saveProducts(
    database,
    IDS.map((id) => buildProduct({ id, createdAt: LAUNCHED_AT })),
  );
  for (let mayHaveMore = true; mayHaveMore; ) ({ mayHaveMore } = await placeLaunches(database, RULES));
  for (const id of ['p-999', 'p-0']) await vote(database, id, `${DAY}T11:00:00.000Z`, 'session-of-a-voter');
});
afterAll(() => database.drop());

async function read(on: Database, { isBodyRead = true } = {}): Promise<{ version: string; chunks: string[] }> {
  const chunks: string[] = [];
  let version = '';
  await readTally(on, DAY, { rules: RULES, runtime: systemRuntime }, async (tally) => {
    version = tally.version;
    if (isBodyRead) for await (const chunk of tally.chunks()) chunks.push(chunk);
  });
  return { version, chunks };
}

test('the header of an open or final day with many launches is sent in pieces, and the digest of the final day covers it', async () => {
  const open = await read(database);
  await finalizeDue(database, { rules: RULES, votesPerNetwork: 20 });
  const final = await read(database);
  for (const { chunks } of [open, final]) {
    expect(chunks[0]).not.toContain('\n');
    const [header = '', ...votes] = chunks.join('').trimEnd().split('\n');
    const { products } = JSON.parse(header);
    expect(products).toEqual(IDS.map((id) => ({ id, launchedAt: LAUNCHED_AT })));
    expect(JSON.stringify(JSON.parse(header))).toBe(header);
    expect(votes.map((line) => JSON.parse(line).product)).toEqual(['p-0', 'p-999']);
  }
  const digest = `sha256:${createHash('sha256').update(final.chunks.join('')).digest('hex')}`;
  expect(await getLeaderboard(database, DAY, {}, RULES)).toMatchObject({ digest });
  expect(final.version).toBe(digest);
  expect(await differencesOf(database, DAY)).toEqual([]);
});

test('a request that needs only the version of a final tally reads no launches', async () => {
  await finalizeDue(database, { rules: RULES, votesPerNetwork: 20 });
  const { database: recording, statements } = recordStatements(database);
  expect((await read(recording, { isBodyRead: false })).version).toMatch(/^sha256:/);
  expect(statements.filter(({ text }) => text.includes('FROM launches l JOIN'))).toEqual([]);
});
