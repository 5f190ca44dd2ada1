import { createHash, type Hash } from 'node:crypto';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import type { Sql } from '../database/database.ts';
import { headerLine, type TallyHeader, type TallyVote, voteLine } from './tally-format.ts';

/** Votes per row of `tally_parts`: about a megabyte of text, which bounds the memory. */
export const PART_VOTES = 5_000;

const INSERT_PART = `INSERT INTO tally_parts (product_id, part, day, votes, content) VALUES ($1, $2, $3, $4, $5)`;

/** Stores the votes of a final day, in the order of the tally, and adds their lines to the hash of the file. */
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

export interface TallyPart {
  productId: string;
  part: number;
  /** JSON lines, each with its line break. */
  text: string;
}

const DECLARE = `DECLARE tally_parts_of_day NO SCROLL CURSOR FOR
  SELECT t.product_id, t.part, t.content FROM launches l JOIN tally_parts t ON t.product_id = l.product_id
  WHERE l.day = $1 AND ($2::text IS NULL OR l.product_id = $2) ORDER BY t.product_id, t.part`;

/** Reads the stored votes of a final day, or of one product of it, in the order of the tally. Call it inside a transaction. */
export async function* readTallyParts(sql: Sql, day: string, productId?: string): AsyncGenerator<TallyPart> {
  await sql.query(DECLARE, [day, productId ?? null]);
  for (;;) {
    const [row] = await sql.query<{ product_id: string; part: number; content: Buffer }>(
      'FETCH 1 FROM tally_parts_of_day',
    );
    if (row === undefined) break;
    const text = (await promisify(gunzip)(row.content)).toString();
    yield { productId: row.product_id, part: row.part, text };
  }
  await sql.query('CLOSE tally_parts_of_day');
}

/** The digest of the tally of a final day, over its header and its stored votes. */
export async function digestOf(sql: Sql, header: TallyHeader): Promise<string> {
  const hash = createHash('sha256').update(headerLine(header));
  for await (const { text } of readTallyParts(sql, header.period)) hash.update(text);
  return digestText(hash);
}

export function digestText(hash: Hash): string {
  return `sha256:${hash.digest('hex')}`;
}
