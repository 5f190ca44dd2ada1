import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { inviteOperator } from '../../src/core/console/operators.ts';
import { beginSession } from '../../src/core/console/sessions.ts';
import { checkCounts } from '../../src/core/counts/check-counts.ts';
import { type Connection, connect } from '../../src/core/database/connect.ts';
import type { Database } from '../../src/core/database/database.ts';
import { DAY_MS } from '../../src/core/runtime.ts';
import { parentOf, processTreeCpuMs, processTreeMemoryMb, withChildren } from '../harness/process-use.ts';
import { type CommandRun, runCommand, type ServerProcess, startSite } from '../harness/server-process.ts';
import { makeProducts } from '../seed/products.ts';
import { randomFrom } from '../seed/random.ts';
import { writerFor } from '../seed/text.ts';
import type { Acknowledged } from './run-visitors.ts';
import type { Catalogue } from './visits.ts';

export const PRODUCTS = 2_000;
export const LAUNCHES = 60;
/** Number of days over which the launches of the older products are spread, ending two days ago. */
const OLDER_DAYS = 90;
const WORDS = 2_000;
const SEED = 14;

/** CPU time or memory of the site and of its database. */
export interface ResourceUse {
  site: number;
  database: number;
}

/** A site with an embedded database, a catalogue, and an operator who is signed in to the console. */
export interface LaunchSite {
  server: ServerProcess;
  catalogue: Catalogue;
  consoleCookie: string;
  /** Imports `rows` products: 50% have changed, 10% are new, and 40% are unchanged. */
  importAgain(round: number, rows: number): Promise<CommandRun>;
  cpuMs(): Promise<ResourceUse>;
  memoryMb(): Promise<ResourceUse>;
  /**
   * Counts the acknowledged writes that are not in the database, and the wrong counts in the database and in responses.
   */
  missing(acknowledged: Acknowledged): Promise<{ upvotes: number; comments: number; wrongCounts: number }>;
  stop(): Promise<void>;
}

export async function openLaunchSite(folder: string, processes: number): Promise<LaunchSite> {
  const environment = { DATA_DIR: join(folder, `data-${processes}`), DATABASE_URL: '', SAMPLE_CATALOGUE: 'off' };
  const server = await startSite('', {
    ...environment,
    WEB_CONCURRENCY: String(processes),
    RATE_LIMITS: 'on',
    TRUST_PROXY: 'loopback',
  });
  const connection = await connect({ dataDir: environment.DATA_DIR, mode: 'share', log: pino({ level: 'error' }) });
  const { database } = connection;
  const older = Array.from(makeProducts(PRODUCTS, SEED), (product, index) => ({
    ...product,
    createdAt: new Date(Date.now() - 2 * DAY_MS - (index / PRODUCTS) * OLDER_DAYS * DAY_MS).toISOString(),
  }));
  const launches = Array.from({ length: LAUNCHES }, (_, index) => {
    // A product without `createdAt` launches when it is imported.
    const { createdAt: _createdAt, ...product } = { ...older[index], id: `launch-${index}`, name: `Launch ${index}` };
    return product;
  });
  const importRows = async (name: string, rows: readonly object[]) => {
    const file = join(folder, `${name}.jsonl`);
    await writeFile(file, rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
    return runCommand(['import', file], environment);
  };
  await importRows('catalogue', [...older, ...launches]);
  await waitForFinalBoards(database);
  await inviteOperator(database, 'bench', new Date());
  const [backend] = await database.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  const postmaster = await parentOf(backend?.pid ?? 0);

  return {
    server,
    catalogue: { launches: launches.map(({ id }) => id), older: older.map(({ id }) => id), words: wordsOf(SEED) },
    consoleCookie: `console_session=${await beginSession(database, 'bench', new Date())}`,
    importAgain(round, rows) {
      const changed = older.slice(0, rows).map((product, index) => {
        if (index % 10 === 0) return { ...product, id: `${product.id}-${round}`, name: `${product.name} ${round}` };
        return index % 2 === 0 ? product : { ...product, description: `${product.description} ${round}` };
      });
      return importRows(`import-${round}`, changed);
    },
    cpuMs: () => measureUse(processTreeCpuMs, server.pid, postmaster),
    memoryMb: () => measureUse(processTreeMemoryMb, server.pid, postmaster),
    missing: (acknowledged) => findMissing(connection, server.address, acknowledged),
    async stop() {
      await connection.close();
      await server.stop();
    },
  };
}

/**
 * Waits until the imported launches are on their leaderboards, and those whose period ended over two days ago are final.
 * A new site does this work in its first minute, which is not part of the simulated day.
 */
async function waitForFinalBoards(database: Database): Promise<void> {
  const isBehind = `SELECT 1 FROM launches WHERE placed_for IS DISTINCT FROM launched_at
    UNION ALL SELECT 1 FROM leaderboards WHERE final_at IS NULL AND to_at < now() - interval '2 days' LIMIT 1`;
  while ((await database.query(isBehind)).length > 0) await sleep(200);
}

function wordsOf(seed: number): string[] {
  const random = randomFrom(seed);
  const writer = writerFor(seed);
  const drawn = Array.from({ length: WORDS * 3 }, () => writer.vocabularyFor(random).word(random));
  return [...new Set(drawn)].slice(0, WORDS);
}

/**
 * Measures the site and its database. If the postmaster is a descendant of the site, it counts only as the database.
 */
async function measureUse(
  measure: (pid: number) => Promise<number>,
  site: number,
  postmaster: number,
): Promise<ResourceUse> {
  const isChild = (await withChildren(site)).includes(postmaster);
  const [all, database] = [await measure(site), await measure(postmaster)];
  return { site: isChild ? all - database : all, database };
}

const STORED_UPVOTES = `SELECT count(*)::integer AS stored FROM unnest($1::text[], $2::text[]) AS wanted (product, session)
  JOIN upvotes ON product_id = product AND user_session = session`;
const STORED_COMMENTS = 'SELECT count(*)::integer AS stored FROM comments WHERE id = ANY($1::uuid[])';
/** More products than the launch day has. */
const MAX_PRODUCTS = 10_000;

async function findMissing(
  { withoutStatementTimeout }: Connection,
  address: string,
  { upvotes, commentIds }: Acknowledged,
): Promise<{ upvotes: number; comments: number; wrongCounts: number }> {
  // Repeated upvotes of a visitor for a product count once.
  const distinct = [...new Map(upvotes.map((upvote) => [`${upvote.productId} ${upvote.session}`, upvote])).values()];
  return withoutStatementTimeout(async (database) => {
    const [storedUpvotes] = await database.query<{ stored: number }>(STORED_UPVOTES, [
      distinct.map(({ productId }) => productId),
      distinct.map(({ session }) => session),
    ]);
    const [storedComments] = await database.query<{ stored: number }>(STORED_COMMENTS, [commentIds]);
    let wrongCounts = (await checkCounts(database, { after: '', limit: MAX_PRODUCTS })).wrong.length;
    const deadline = performance.now() + VISIBLE_TIMEOUT_MS;
    const counts = await database.query<{ product_id: string; upvotes: number }>(
      'SELECT product_id, upvotes FROM product_counts WHERE product_id = ANY($1::text[])',
      [[...new Set(distinct.map(({ productId }) => productId))]],
    );
    for (const { product_id: id, upvotes: stored } of counts)
      if (!(await waitForCount(address, id, stored, deadline))) wrongCounts += 1;
    return {
      upvotes: distinct.length - (storedUpvotes?.stored ?? 0),
      comments: commentIds.length - (storedComments?.stored ?? 0),
      wrongCounts,
    };
  });
}

const VISIBLE_TIMEOUT_MS = 10_000;

/**
 * Waits until the site shows this number of upvotes, because an upvote reaches the other processes with a delay.
 * @returns false if the deadline passes first.
 */
async function waitForCount(address: string, id: string, upvotes: number, deadline: number): Promise<boolean> {
  for (;;) {
    const response = await fetch(`${address}/api/products/${encodeURIComponent(id)}`);
    const { product } = (await response.json()) as { product: { upvotes: number } };
    if (product.upvotes === upvotes) return true;
    if (performance.now() > deadline) return false;
    await sleep(100);
  }
}
