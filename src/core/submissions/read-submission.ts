import type { Standings } from '../../contract/leaderboards/schema.ts';
import type { Product } from '../../contract/products/schema.ts';
import type { HourlyVotes, Submission } from '../../contract/submissions/schema.ts';
import type { Database, Sql } from '../database/database.ts';
import { holdSnapshot } from '../database/transactions.ts';
import { HOUR_MS, WINDOW_MS } from '../leaderboards/calendar.ts';
import { WINDOW_VOTES } from '../leaderboards/launch-votes.ts';
import { readTallyLines } from '../leaderboards/tally-file.ts';
import { PRODUCT_COLUMNS, type ProductRow, productOf } from '../products/product-row.ts';
import { versionOf } from '../products/save-products.ts';
import { productOfFields, type SubmissionRow, statusOf } from './submission-row.ts';

export interface ReadContext {
  now: Date;
  timeZone: string;
  getStandings(productId: string): Promise<Standings | null>;
  getVotesByHour(productId: string, launchedAt: Date): Promise<HourlyVotes[]>;
}

const SELECT_PRODUCTS = `SELECT ${PRODUCT_COLUMNS}
  FROM products p LEFT JOIN product_counts c ON c.product_id = p.id WHERE p.id = ANY($1::text[])`;

/** Reads the launched and scheduled products of approved submissions, by id. @throws CoreError `unavailable`. */
export async function readProducts(sql: Sql, rows: readonly SubmissionRow[]): Promise<Map<string, Product>> {
  const ids = rows.filter(({ status }) => status === 'approved').map(({ id }) => id);
  if (ids.length === 0) return new Map();
  const products = await sql.query<ProductRow>(SELECT_PRODUCTS, [ids]);
  return new Map(products.map((product) => [product.id, productOf(product)]));
}

/** Builds a submission as its maker sees it. @throws CoreError `unavailable`. */
export async function describeSubmission(
  sql: Sql,
  row: SubmissionRow,
  { now, timeZone, getStandings, getVotesByHour }: ReadContext,
): Promise<Submission> {
  const product = (await readProducts(sql, [row])).get(row.id);
  const { status, reason } = stateOf(row, product, now);
  const hasLaunched = status === 'launched' && product !== undefined;
  return {
    id: row.id,
    status,
    reason,
    editable: status === 'scheduled' || row.status === 'waiting' || row.status === 'declined',
    revision: row.revision,
    productVersion: product ? versionOf(product) : null,
    launchAt: product?.createdAt ?? row.launch_at?.toISOString() ?? null,
    product: product ?? previewOf(row, now, timeZone),
    standing: hasLaunched ? await getStandings(row.id) : null,
    votesByHour: hasLaunched ? await getVotesByHour(row.id, new Date(product.createdAt)) : [],
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  };
}

/** Returns the status and its reason. If an approved submission has no product, an operator has removed the product. */
export function stateOf(
  row: SubmissionRow,
  product: Product | undefined,
  now: Date,
): Pick<Submission, 'status' | 'reason'> {
  if (row.status === 'approved' && product === undefined) {
    return { status: 'declined', reason: 'The product was removed from the site.' };
  }
  return { status: statusOf(row, now, product && new Date(product.createdAt)), reason: row.reason };
}

/** Returns the product as it would launch at its launch time, or now if no time is set. */
export function previewOf({ id, fields, launch_at: launchAt }: SubmissionRow, now: Date, timeZone: string): Product {
  return { ...productOfFields(id, fields, launchAt ?? now, timeZone), upvotes: 0, comments: 0 };
}

const SELECT_LAUNCH = 'SELECT launched_at, day, final FROM launches WHERE product_id = $1';

const SELECT_VOTES = `SELECT floor(extract(epoch FROM created_at - $2::timestamptz) / 3600)::integer AS hour, count(*)::integer AS votes
  FROM (${WINDOW_VOTES}) AS w WHERE verdict IS NULL OR verdict = 'included' GROUP BY 1`;

/** Returns the number of counted votes in each hour of the launch window so far. @throws CoreError `unavailable`. */
export function readVotesByHour(database: Database, id: string, now: Date): Promise<HourlyVotes[]> {
  return database.transaction(async (sql) => {
    // On one snapshot, because withdrawn votes that count are moved when the day becomes final.
    await holdSnapshot(sql);
    const [launch] = await sql.query<{ launched_at: Date; day: string; final: boolean }>(SELECT_LAUNCH, [id]);
    if (launch === undefined) return [];
    const from = launch.launched_at.getTime();
    const votes = launch.final ? await countFinalVotes(sql, id, launch.day, from) : await countVotes(sql, id, from);
    const hours = Math.ceil((Math.min(now.getTime() + 1, from + WINDOW_MS) - from) / HOUR_MS);
    return Array.from({ length: hours }, (_, hour) => ({
      from: new Date(from + hour * HOUR_MS).toISOString(),
      votes: votes.get(hour) ?? 0,
    }));
  });
}

async function countVotes(sql: Sql, id: string, from: number): Promise<Map<number, number>> {
  const values = [[id], new Date(from).toISOString()];
  const rows = await sql.query<{ hour: number; votes: number }>(SELECT_VOTES, values);
  return new Map(rows.map(({ hour, votes }) => [hour, votes]));
}

async function countFinalVotes(sql: Sql, id: string, day: string, from: number): Promise<Map<number, number>> {
  const votes = new Map<number, number>();
  for await (const lines of readTallyLines(sql, day, id)) {
    for (const { at, counted } of lines) {
      // Stored times are rounded down to seconds, so a vote may seem to precede the launch.
      const hour = Math.max(0, Math.floor((Date.parse(at) - from) / HOUR_MS));
      if (counted) votes.set(hour, (votes.get(hour) ?? 0) + 1);
    }
  }
  return votes;
}
