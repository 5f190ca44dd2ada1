import type { HourlyVotes, Standings } from '../../contract/leaderboards/schema.ts';
import type { Product } from '../../contract/products/schema.ts';
import type { Submission } from '../../contract/submissions/schema.ts';
import type { Sql } from '../database/database.ts';
import { readProducts } from '../products/product-row.ts';
import { versionOf } from '../products/save-products.ts';
import { findRemoved, hasVotesOrComments } from './launch-product.ts';
import { productOfFields, type SubmissionRow } from './submission-row.ts';

interface ReadContext {
  now: Date;
  timeZone: string;
  getStandings(productId: string): Promise<Standings | null>;
  getVotesByHour(productId: string, launchedAt: Date): Promise<HourlyVotes[]>;
}

/** Reads the launched and scheduled products of approved submissions, by id. @throws CoreError `unavailable`. */
export async function readApprovedProducts(sql: Sql, rows: readonly SubmissionRow[]): Promise<Map<string, Product>> {
  const ids = rows.filter(({ status }) => status === 'approved').map(({ id }) => id);
  if (ids.length === 0) return new Map();
  const products = await readProducts(sql, ids);
  const removed = await findRemoved(sql, ids);
  return new Map(products.filter(({ id }) => !removed.has(id)).map((product) => [product.id, product]));
}

/** Builds a submission as its maker sees it. @throws CoreError `unavailable`. */
export async function describeSubmission(
  sql: Sql,
  row: SubmissionRow,
  { now, timeZone, getStandings, getVotesByHour }: ReadContext,
): Promise<Submission> {
  const product = (await readApprovedProducts(sql, [row])).get(row.id);
  const { status, reason } = stateOf(row, product, now);
  const hasLaunched = status === 'launched' && product !== undefined;
  // A product that was postponed after its launch may have votes or comments, which an edit would delete.
  const isScheduled = status === 'scheduled' && !(await hasVotesOrComments(sql, row.id));
  return {
    id: row.id,
    status,
    reason,
    editable: isScheduled || row.status === 'waiting' || row.status === 'declined',
    revision: row.revision,
    productVersion: product ? versionOf(product) : null,
    launchAt: launchAtOf(row, product, now),
    product: product ?? previewOf(row, now, timeZone),
    standing: hasLaunched ? await getStandings(row.id) : null,
    votesByHour: hasLaunched ? await getVotesByHour(row.id, new Date(product.createdAt)) : [],
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  };
}

/** Returns the status and its reason. If an approved submission has no product, an operator has removed the product. */
export function stateOf(
  { status, reason }: SubmissionRow,
  product: Product | undefined,
  now: Date,
): Pick<Submission, 'status' | 'reason'> {
  if (status !== 'approved') return { status, reason };
  if (product === undefined) return { status: 'declined', reason: 'The product was removed from the site.' };
  return { status: Date.parse(product.createdAt) > now.getTime() ? 'scheduled' : 'launched', reason };
}

/** Returns the launch time, or null if approval launches the product immediately. */
export function launchAtOf(row: SubmissionRow, product: Product | undefined, now: Date): string | null {
  if (product) return product.createdAt;
  const { status, launch_at: launchAt } = row;
  return launchAt && (status === 'approved' || launchAt > now) ? launchAt.toISOString() : null;
}

/** Returns the product as it would launch, with the time that `launchAtOf` returns, or now. */
export function previewOf(row: SubmissionRow, now: Date, timeZone: string): Product {
  const launchAt = new Date(launchAtOf(row, undefined, now) ?? now);
  return { ...productOfFields(row.id, row.fields, launchAt, timeZone), upvotes: 0, comments: 0 };
}
