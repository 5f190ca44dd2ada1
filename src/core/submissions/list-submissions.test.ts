import pg from 'pg';
import { expect, test } from 'vitest';
import { planOf } from '../../../tests/support/query-plan.ts';
import { recordStatements } from '../../../tests/support/recording-database.ts';
import { openSubmissionHarness } from '../../../tests/support/submission-harness.ts';
import type { Sql } from '../database/database.ts';
import { launchOf } from '../products/save-products.ts';
import { listSubmissions, type SubmissionFilter } from './list-submissions.ts';

const harness = openSubmissionHarness();
const { site, clock } = harness;
const WAITING = 2_000;

const list = (filter: SubmissionFilter, database: Sql = site.database) =>
  listSubmissions(database, filter, { now: clock.now(), timeZone: 'UTC' });

test('2,000 waiting submissions are paged in order by an index, with suspected spam last', async () => {
  const example = await harness.submit({ name: 'Example' });
  await site.database.query(
    `INSERT INTO submissions (id, status, fields, key_hashes, suspected_spam, created_at, updated_at, waiting_since)
     SELECT 'many-' || n, 'waiting', fields, key_hashes, n % 10 = 0, created_at - n * interval '1 second', updated_at,
       waiting_since - n * interval '1 second'
     FROM submissions, generate_series(1, ${WAITING - 1}) AS n WHERE id = $1`,
    [example.id],
  );
  await site.database.query('ANALYZE submissions');
  const ids: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await list({ status: 'waiting', limit: 300, cursor });
    ids.push(...page.items.map(({ id }) => id));
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined);
  const numbers = Array.from({ length: WAITING - 1 }, (_, index) => WAITING - 1 - index);
  const [spam, others] = [numbers.filter((n) => n % 10 === 0), numbers.filter((n) => n % 10 !== 0)];
  expect(ids).toEqual([...others.map((n) => `many-${n}`), 'example', ...spam.map((n) => `many-${n}`)]);

  const { statements, database } = recordStatements(site.database);
  await list({ status: 'waiting', limit: 30 }, database);
  await list({ status: 'all', limit: 30 }, database);
  const client = new pg.Client({ connectionString: site.database.url });
  await client.connect();
  try {
    for (const statement of statements) {
      const nodes = await planOf(client, statement, 'custom');
      expect(nodes.map((node) => node['Node Type'])).not.toContain('Seq Scan');
      expect(nodes.map((node) => node['Node Type'])).not.toContain('Sort');
    }
  } finally {
    await client.end();
  }
  expect(statements).toHaveLength(2);
});

test('all submissions are listed newest first with their states; a cursor of the other list is refused', async () => {
  const maker = await harness.submit();
  clock.advance({ hours: 1 });
  const newest = await harness.submit();
  await harness.decline(maker.id, 'No');
  const { items, nextCursor } = await list({ status: 'all', limit: 2 });
  expect(items).toMatchObject([
    { id: newest.id, status: 'waiting', canUndo: false },
    { id: maker.id, status: 'declined', reason: 'No', canUndo: true },
  ]);
  await expect(list({ status: 'waiting', limit: 2, cursor: nextCursor ?? '' })).rejects.toMatchObject({
    code: 'bad_cursor',
  });
});

test('a requested launch time is shown until it has passed; then, approval launches the product immediately', async () => {
  const launchAt = harness.inHours(1).toISOString();
  const maker = await harness.submit({ launchAt });
  const shown = async () => [await harness.inspect(maker.id), await site.submissions.get(maker)];
  const scheduled = { launchAt, product: { createdAt: launchAt } };
  expect(await shown()).toMatchObject([scheduled, scheduled]);
  clock.advance({ hours: 49 });
  const late = { launchAt: null, product: launchOf(clock.now(), 'UTC') };
  expect(await shown()).toMatchObject([late, late]);
  await harness.approve(maker.id);
  const launched = { status: 'launched', launchAt: clock.now().toISOString() };
  expect(await shown()).toMatchObject([launched, launched]);
});
