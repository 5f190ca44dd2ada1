import { createHash, createHmac, type Hash } from 'node:crypto';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import type { TallyLine } from '../../contract/console/records.ts';
import type { ExclusionReason, LeaderboardStatus } from '../../contract/leaderboards/schema.ts';
import type { Sql } from '../database/database.ts';
import { readInBatches } from '../database/transactions.ts';

/** The first line of a tally, without its products. Times are ISO 8601 in UTC. */
export interface TallyHeader {
  period: string;
  timeZone: string;
  from: string;
  to: string;
  status: LeaderboardStatus;
  revision: number;
}

/** A product in the first line of a tally. */
export interface TallyProduct {
  id: string;
  launchedAt: string;
}

/** One vote that was cast inside the window of its product. */
export interface TallyVote {
  product: string;
  /** The session, hashed by `voterOf`. */
  voter: string;
  at: Date;
  reason: ExclusionReason | null;
}

/**
 * Returns the header of a day without launches as a line of JSON. The order of the fields matters, because the digest
 * covers the line.
 */
export function emptyHeaderLine({ period, timeZone, from, to, status, revision }: TallyHeader): string {
  return `${JSON.stringify({ tally: 1, period, timeZone, from, to, status, revision, products: [] })}\n`;
}

/** The end of each header, after its products. */
const HEADER_END = ']}\n';

/** Yields the header as a line of JSON, in pieces, because a day may have a million products. */
export async function* headerPieces(
  header: TallyHeader,
  batches: AsyncIterable<readonly TallyProduct[]>,
): AsyncGenerator<string> {
  let next = emptyHeaderLine(header).slice(0, -HEADER_END.length);
  for await (const products of batches) {
    yield `${next}${products.map(({ id, launchedAt }) => JSON.stringify({ id, launchedAt })).join()}`;
    next = ',';
  }
  yield next === ',' ? HEADER_END : `${next}${HEADER_END}`;
}

/** Returns a vote as a line of JSON, with its time in whole seconds. */
export function voteLine({ product, voter, at, reason }: TallyVote): string {
  return `${JSON.stringify({ product, voter, at: formatWholeSeconds(at), counted: reason === null, reason })}\n`;
}

function formatWholeSeconds(at: Date): string {
  return `${at.toISOString().slice(0, 19)}Z`;
}

/**
 * Returns the hash of a voter in the tally of a day: the first 128 bits, in hexadecimal, of HMAC-SHA256(secret of the
 * day, "voter\n" + session). Once the secret is destroyed, the hash alone cannot be linked to a session.
 */
export function voterOf(secret: Buffer, session: string): string {
  return createHmac('sha256', secret).update(`voter\n${session}`).digest('hex').slice(0, 32);
}

/** Maximum votes per row of `tally_parts`: about a megabyte of text, which bounds memory use. */
const PART_VOTES = 5_000;

const INSERT_PART = `INSERT INTO tally_parts (product_id, part, day, votes, content) VALUES ($1, $2, $3, $4, $5)`;

/** Stores the votes of a finalized day, in the order of the tally, and adds their lines to the hash of the file. */
export async function writeTallyParts(
  sql: Sql,
  day: string,
  batches: AsyncIterable<readonly TallyVote[]>,
  hash?: Hash,
): Promise<void> {
  let product = '';
  let part = 0;
  let lines: string[] = [];

  async function flush(): Promise<void> {
    if (lines.length === 0) return;
    const text = lines.join('');
    hash?.update(text);
    await sql.query(INSERT_PART, [product, part, day, lines.length, await promisify(gzip)(text)]);
    part += 1;
    lines = [];
  }

  for await (const batch of batches) {
    for (const vote of batch) {
      if (vote.product !== product || lines.length === PART_VOTES) await flush();
      if (vote.product !== product) part = 0;
      product = vote.product;
      lines.push(voteLine(vote));
    }
  }
  await flush();
}

interface TallyPart {
  productId: string;
  part: number;
  /** Lines of JSON, each with a line feed. */
  text: string;
}

const SELECT_PARTS = `SELECT t.product_id, t.part, t.content FROM launches l JOIN tally_parts t ON t.product_id = l.product_id
  WHERE l.day = $1 AND ($2::text IS NULL OR l.product_id = $2) ORDER BY t.product_id, t.part`;

/**
 * Reads the stored votes of a finalized day, or only those for `productId`, in the order of the tally. The restrictions
 * of `readInBatches` apply.
 */
export async function* readTallyParts(sql: Sql, day: string, productId?: string): AsyncGenerator<TallyPart> {
  const options = { values: [day, productId ?? null], batchRows: 1 };
  for await (const rows of readInBatches<{ product_id: string; part: number; content: Buffer }>(
    sql,
    SELECT_PARTS,
    options,
  )) {
    for (const { product_id, part, content } of rows)
      yield { productId: product_id, part, text: (await promisify(gunzip)(content)).toString() };
  }
}

/** Reads the stored votes of a product of a finalized day, in batches, like `readTallyParts`. */
export async function* readTallyLines(sql: Sql, day: string, productId: string): AsyncGenerator<TallyLine[]> {
  for await (const { text } of readTallyParts(sql, day, productId)) {
    yield splitLines(text).map((line): TallyLine => JSON.parse(line));
  }
}

/** Returns the lines of a part, without line feeds. */
export function splitLines(text: string): string[] {
  return text.trimEnd().split('\n');
}

const UPDATE_PART = 'UPDATE tally_parts SET content = $3 WHERE product_id = $1 AND part = $2';

/** Replaces a part with the same number of lines, which have no line feeds. */
export async function replaceTallyPart(
  sql: Sql,
  { productId, part }: Omit<TallyPart, 'text'>,
  lines: readonly string[],
): Promise<void> {
  await sql.query(UPDATE_PART, [productId, part, await promisify(gzip)(`${lines.join('\n')}\n`)]);
}

/**
 * Returns the digest of the tally of a final day that never had a launch. Such days have no stored result, and their
 * tally is the header alone.
 */
export function emptyTallyDigest(header: Pick<TallyHeader, 'period' | 'timeZone' | 'from' | 'to'>): string {
  const line = emptyHeaderLine({ ...header, status: 'final', revision: 0 });
  return digestText(createHash('sha256').update(line));
}

export function digestText(hash: Hash): string {
  return `sha256:${hash.digest('hex')}`;
}
