import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildProduct } from '../../../tests/support/build-product.ts';
import { vote } from '../../../tests/support/launch-site.ts';
import { recordStatements } from '../../../tests/support/recording-database.ts';
import { createTestClock } from '../../../tests/support/test-clock.ts';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts';
import type { Sql } from '../database/database.ts';
import { saveProducts } from '../products/save-products.ts';
import { HOUR_MS } from '../runtime.ts';
import { placeLaunches } from './update-boards.ts';
import { createVoteNetworks } from './vote-networks.ts';

const NETWORK = Uint8Array.of(192, 0, 2, 1);

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const clock = createTestClock();
const inMs = (ms: number) => new Date(clock.now().getTime() + ms).toISOString();
const networksOn = (sql: Sql) => createVoteNetworks(sql, { runtime: clock, timeZone: 'UTC' });

test('a product accepts votes from the millisecond of its launch on, and votes have a network until the window ends', async () => {
  await saveProducts(database, [buildProduct({ id: 'early', createdAt: inMs(5_000) })]);
  const networks = networksOn(database);
  clock.advance({ milliseconds: 4_999 });
  expect(await networks.lookUp('early', NETWORK)).toEqual({ hasLaunched: false });
  clock.advance({ milliseconds: 1 });
  expect(await networks.lookUp('early', NETWORK)).toEqual({ hasLaunched: true, network: expect.any(String) });
  await saveProducts(database, [buildProduct({ id: 'over', createdAt: inMs(-24 * HOUR_MS) })]);
  expect(await networks.lookUp('over', NETWORK)).toEqual({ hasLaunched: true });
});

test('the votes of a launch that was cached before its window began have networks once the window is open', async () => {
  await saveProducts(database, [buildProduct({ id: 'later', createdAt: inMs(HOUR_MS / 2) })]);
  const networks = networksOn(database);
  expect(await networks.lookUp('later', NETWORK)).toEqual({ hasLaunched: false });
  clock.advance({ hours: 0.5 });
  const { network: named } = await networks.lookUp('later', NETWORK);
  expect(named).toMatch(/^[0-9a-f-]{36}$/);
  expect((await networks.lookUp('later', Uint8Array.of(192, 0, 2, 2))).network).not.toBe(named);
});

test.each([
  ['an unknown product', 'no-such-product', []],
  ['a scheduled product', 'far-away', [buildProduct({ id: 'far-away', createdAt: inMs(6 * HOUR_MS) })]],
])(
  'looking up %s again sends no query, so the response time does not reveal whether a product is scheduled',
  async (_what, id, products) => {
    await saveProducts(database, products);
    const recorded = recordStatements(database);
    const networks = networksOn(recorded.database);
    expect(await networks.lookUp(id, NETWORK)).toEqual({ hasLaunched: false });
    expect(await networks.lookUp(id, NETWORK)).toEqual({ hasLaunched: false });
    expect(recorded.statements).toHaveLength(1);
  },
);

test.each([
  ['a text longer than any id', 'a'.repeat(8_000)],
  ['a text that PostgreSQL cannot store', 'tide\0'],
])('%s is refused without a query', async (_what, id) => {
  const recorded = recordStatements(database);
  expect(await networksOn(recorded.database).lookUp(id, NETWORK)).toEqual({ hasLaunched: false });
  expect(recorded.statements).toEqual([]);
});

test('texts that are not ids are not cached, so they do not displace launches', async () => {
  const recorded = recordStatements(database);
  const networks = networksOn(recorded.database);
  await networks.lookUp('unknown', NETWORK);
  // These are more texts than the cache can hold.
  for (let index = 0; index <= 20_000; index += 1) await networks.lookUp(`tide\0${index}`, NETWORK);
  await networks.lookUp('unknown', NETWORK);
  expect(recorded.statements).toHaveLength(1);
});

test('a launch that is moved while it is read is read again', async () => {
  const createdAt = inMs(-48 * HOUR_MS);
  await saveProducts(database, [buildProduct({ id: 'moved', createdAt })]);
  const networks = networksOn({
    async query<Row extends object>(text: string, values?: readonly unknown[]) {
      const rows = await database.query<Row>(text, values);
      networks.onChange({ productIds: ['moved'], catalogue: true });
      return rows;
    },
  });
  expect((await networks.lookUp('moved', NETWORK)).network).toBeUndefined();
  await saveProducts(database, [buildProduct({ id: 'moved', createdAt: inMs(-HOUR_MS) })]);
  expect((await networks.lookUp('moved', NETWORK)).network).toBeDefined();
});

test('the votes of a launch have networks again after its move to a day whose result is due is rejected', async () => {
  const rules = () => ({ now: clock.now(), timeZone: 'UTC', reviewHours: 24 });
  await saveProducts(database, [buildProduct({ id: 'kept', createdAt: inMs(-HOUR_MS) })]);
  await placeLaunches(database, rules());
  await vote(database, 'kept', clock.now().toISOString(), 'session-voter');
  const networks = networksOn(database);
  const { network } = await networks.lookUp('kept', NETWORK);
  await saveProducts(database, [buildProduct({ id: 'kept', createdAt: inMs(-100 * HOUR_MS) })]);
  networks.onChange({ productIds: ['kept'], catalogue: true });
  expect(await networks.lookUp('kept', NETWORK)).toEqual({ hasLaunched: true });

  const { productIds } = await placeLaunches(database, rules());
  networks.onChange({ productIds, catalogue: true });
  expect(await networks.lookUp('kept', NETWORK)).toEqual({ hasLaunched: true, network });
  expect(network).toBeDefined();
});
