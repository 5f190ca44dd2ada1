import pg from 'pg';
import { boardPlaces, leaderboardRow } from '../../src/core/leaderboards/update-boards.ts';
import { searchGramsOf } from '../../src/core/products/search-grams.ts';
import { DAY_MS } from '../../src/core/runtime.ts';
import { foldText, searchTextOf } from '../../src/core/search-text.ts';
import { type Cell, copyRows } from './copy.ts';
import { makeProducts } from './products.ts';
import { randomFrom, uuidOf } from './random.ts';
import { splitByZipf } from './shares.ts';
import { writerFor, writeText } from './text.ts';

export interface SeedSizes {
  products: number;
  upvotes: number;
  comments: number;
  seed: number;
}

const TABLES = ['products', 'product_counts', 'upvotes', 'comments', 'launches', 'leaderboards', 'leaderboard_counts'];
const NOW = Date.UTC(2026, 0, 1);

/** Distinguishes the ids of different kinds of rows, because the rows of each kind are numbered from 0. */
const KIND = { upvote: 0, comment: 1, session: 2 } as const;

/**
 * Fills a migrated database in one transaction. The same sizes and seed produce the same rows.
 * @throws Error if the database already contains products, unless `force` is set.
 */
export async function fillDatabase(
  url: string,
  sizes: SeedSizes,
  { force = false }: { force?: boolean } = {},
): Promise<void> {
  const client = new pg.Client({ connectionString: url, application_name: 'groundswell-seed' });
  await client.connect();
  try {
    const { rows } = await client.query('SELECT 1 FROM products LIMIT 1');
    if (rows.length > 0 && !force) throw new Error('This database already contains products. Use --force to add more.');
    await client.query('BEGIN');
    await client.query("SET LOCAL maintenance_work_mem = '512MB'");
    const restore = await dropConstraintsAndIndexes(client, TABLES);
    await copyAll(client, sizes);
    for (const statement of restore) await client.query(statement);
    await client.query('COMMIT');
    // VACUUM also sets the visibility map, without which index-only scans read every row from the table.
    for (const table of TABLES) await client.query(`VACUUM (ANALYZE) ${table}`);
  } finally {
    await client.end();
  }
}

/** The statements that drop a constraint or an index, and create it again after the tables are filled. */
interface DroppedObject {
  drop: string;
  restore: string;
}

// Constraints and indexes are read from the server's catalogue, so those of later migrations are included.
const CONSTRAINTS = `SELECT format('ALTER TABLE %s DROP CONSTRAINT %I', conrelid::regclass, conname) AS drop,
    format('ALTER TABLE %s ADD CONSTRAINT %I %s', conrelid::regclass, conname, pg_get_constraintdef(oid)) AS restore
  FROM pg_constraint
  WHERE contype = $2 AND (conrelid = ANY($1::text[]::regclass[]) OR confrelid = ANY($1::text[]::regclass[]))
  ORDER BY conname`;

const INDEXES = `SELECT format('DROP INDEX %s', indexrelid::regclass) AS drop, pg_get_indexdef(indexrelid) AS restore
  FROM pg_index
  WHERE indrelid = ANY($1::text[]::regclass[])
    AND NOT EXISTS (SELECT 1 FROM pg_constraint WHERE conindid = indexrelid) ORDER BY indexrelid::regclass::text`;

/**
 * Drops foreign keys, indexes and primary keys, in this order. Building an index or checking references once, after
 * the tables are filled, is several times as fast as doing so for each row.
 * @returns the statements that recreate them, in the opposite order.
 */
async function dropConstraintsAndIndexes(client: pg.Client, tables: readonly string[]): Promise<string[]> {
  const references = await client.query<DroppedObject>(CONSTRAINTS, [tables, 'f']);
  const indexes = await client.query<DroppedObject>(INDEXES, [tables]);
  const keys = await client.query<DroppedObject>(CONSTRAINTS, [tables, 'p']);
  const dropped = [...references.rows, ...indexes.rows, ...keys.rows];
  for (const { drop } of dropped) await client.query(drop);
  return dropped.map(({ restore }) => restore).reverse();
}

async function copyAll(client: pg.Client, { products, upvotes, comments, seed }: SeedSizes): Promise<void> {
  const sessions = Math.max(1_000, Math.ceil(upvotes / 20));
  const upvoteCounts = splitByZipf(upvotes, products, seed + 1, sessions);
  const commentCounts = splitByZipf(comments, products, seed + 2);
  const ids: string[] = [];
  const launches: Date[] = [];

  await copyRows(client, 'products', PRODUCT_COLUMNS, productRows({ products, seed, ids, launches }));
  // All upvotes are cast in the launch windows, so all of them count on the leaderboards. These are inserted as final,
  // because otherwise the site would first finalize a day every few milliseconds, and render pages again each time.
  const counts = ids.map((id, index) => [
    id,
    upvoteCounts[index] ?? 0,
    upvoteCounts[index] ?? 0,
    commentCounts[index] ?? 0,
    '-infinity',
  ]);
  await copyRows(client, 'product_counts', ['product_id', 'upvotes', 'counted', 'comments', 'window_from'], counts);
  await copyRows(
    client,
    'upvotes',
    UPVOTE_COLUMNS,
    upvoteRows({ ids, launches, counts: upvoteCounts, sessions, seed }),
  );
  await copyRows(client, 'launches', LAUNCH_COLUMNS, launchRows({ ids, launches, counts: upvoteCounts }));
  await fillLeaderboards(client);
  await copyRows(client, 'comments', COMMENT_COLUMNS, commentRows({ ids, counts: commentCounts, seed }));
}

const PRODUCT_COLUMNS = [
  ...['id', 'name', 'description', 'image', 'tags', 'category', 'maker', 'launch_date', 'team', 'screenshots'],
  ...['created_at', 'search_text', 'tag_keys', 'search_grams'],
];

/** Generates the rows of products, and adds their ids and launch times to the arrays for the other tables. */
function* productRows({
  products,
  seed,
  ids,
  launches,
}: {
  products: number;
  seed: number;
  ids: string[];
  launches: Date[];
}): Generator<Cell[]> {
  for (const product of makeProducts(products, seed)) {
    ids.push(product.id);
    launches.push(new Date(product.createdAt));
    const { id, name, description, image, tags, category, maker, launchDate, team, screenshots, createdAt } = product;
    const searchText = searchTextOf(product);
    const tagKeys = tags.map(foldText);
    const written = [
      id,
      name,
      description,
      image,
      tags,
      category,
      maker,
      launchDate,
      JSON.stringify(team),
      screenshots,
    ];
    yield [...written, createdAt, searchText, tagKeys, searchGramsOf(searchText).map(String)];
  }
}

const UPVOTE_COLUMNS = ['id', 'product_id', 'user_session', 'created_at'];

function* upvoteRows({
  ids,
  launches,
  counts,
  sessions,
  seed,
}: Engagement & { sessions: number; launches: readonly Date[] }): Generator<Cell[]> {
  const names = Array.from({ length: sessions }, (_, index) => `session-${uuidOf(seed, KIND.session, index)}`);
  const random = randomFrom(seed + 3);
  // A prime stride larger than the number of sessions visits every session before it repeats one.
  const stride = 2_147_483_629;
  let made = 0;
  for (const [index, id] of ids.entries()) {
    const start = random.below(sessions);
    for (let upvote = 0; upvote < (counts[index] ?? 0); upvote += 1) {
      const session = names[(start + upvote * stride) % sessions] ?? '';
      const time = (launches[index]?.getTime() ?? 0) + Math.floor(DAY_MS * random.next());
      yield [uuidOf(seed, KIND.upvote, made), id, session, new Date(time).toISOString()];
      made += 1;
    }
  }
}

const LAUNCH_COLUMNS = [
  ...['product_id', 'launched_at', 'placed_for', 'votes', 'day', 'week', 'month', 'year'],
  ...['day_order', 'week_order', 'month_order', 'year_order', 'final'],
];

function* launchRows({
  ids,
  launches,
  counts,
}: Omit<Engagement, 'seed'> & { launches: readonly Date[] }): Generator<Cell[]> {
  for (const [index, id] of ids.entries()) {
    const launchedAt = launches[index] ?? new Date(NOW);
    const { day, week, month, year, ...orders } = boardPlaces(id, launchedAt, 'UTC');
    const { day_order, week_order, month_order, year_order } = orders;
    const at = launchedAt.toISOString();
    const periods = [day, week, month, year, day_order, week_order, month_order, year_order];
    yield [id, at, at, counts[index] ?? 0, ...periods, 'true'];
  }
}

async function fillLeaderboards(client: pg.Client): Promise<void> {
  const periods = 'launches CROSS JOIN LATERAL unnest(ARRAY[day, week, month, year]) AS period';
  await client.query(
    `INSERT INTO leaderboard_counts (period, votes, products) SELECT period, votes, count(*) FROM ${periods} GROUP BY period, votes`,
  );
  const { rows } = await client.query<{ period: string }>(`SELECT DISTINCT period FROM ${periods}`);
  await client.query(
    `INSERT INTO leaderboards (period, kind, time_zone, from_at, to_at, final_at)
     SELECT period, kind, 'UTC', from_at, to_at, to_at + interval '48 hours'
     FROM jsonb_to_recordset($1::jsonb) AS row (period text, kind text, from_at timestamptz, to_at timestamptz)`,
    [JSON.stringify(rows.map(({ period }) => leaderboardRow(period, 'UTC')))],
  );
}

const COMMENT_COLUMNS = ['id', 'product_id', 'author_name', 'author_avatar', 'content', 'likes', 'created_at'];
/** Maximum number of distinct texts, which the comments share. */
const MAX_TEXTS = 20_000;

function* commentRows({ ids, counts, seed }: Engagement): Generator<Cell[]> {
  const random = randomFrom(seed + 4);
  const writer = writerFor(seed);
  const total = counts.reduce((sum, count) => sum + count, 0);
  const texts = Array.from({ length: Math.min(MAX_TEXTS, total) }, () =>
    writeText(writer.vocabularyFor(random), random, 3 + Math.floor(60 * random.next() ** 3)),
  );
  let made = 0;
  for (const [index, id] of ids.entries()) {
    for (let comment = 0; comment < (counts[index] ?? 0); comment += 1) {
      const content = texts[random.below(texts.length)] ?? '';
      const likes = Math.floor(random.next() ** -0.5) - 1;
      const time = timeBefore(random.next());
      yield [uuidOf(seed, KIND.comment, made), id, 'You', '/pictures/avatar-default.svg', content, likes, time];
      made += 1;
    }
  }
}

interface Engagement {
  ids: readonly string[];
  counts: Int32Array;
  seed: number;
}

/** Maps a random number from 0 to 1 to a time in the year before `NOW`. Recent times are more likely. */
function timeBefore(share: number): string {
  return new Date(NOW - Math.floor(365 * DAY_MS * share ** 2)).toISOString();
}
