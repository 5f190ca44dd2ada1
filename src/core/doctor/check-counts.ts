import { checkCounts } from '../counts/check-counts.ts';
import type { Sql } from '../database/database.ts';
import { type Finding, fault, ok } from './finding.ts';

const SAMPLE = 1_000;

/** Compares the counts of some products with their rows: of a stretch that begins anywhere, since all may be millions. */
export async function checkSomeCounts(sql: Sql, random: () => number = Math.random): Promise<Finding> {
  const [products] = await sql.query<{ count: string }>('SELECT count(*) FROM products');
  const skipped = Math.floor(random() * Math.max(0, Number(products?.count) - SAMPLE + 1));
  const after = skipped === 0 ? '' : await idAt(sql, skipped);
  const { checked, wrong } = await checkCounts(sql, { after, limit: SAMPLE });
  const message = `of ${checked.toLocaleString('en')} looked at, ${wrong.length} are wrong`;
  if (wrong.length > 0) return fault('counts', message, 'Run groundswell counts check --repair.');
  return ok('counts', message);
}

/** The id of the product at a place in their order, the first of which is 1. */
async function idAt(sql: Sql, place: number): Promise<string> {
  const [row] = await sql.query<{ id: string }>('SELECT id FROM products ORDER BY id OFFSET $1 LIMIT 1', [place - 1]);
  return row?.id ?? '';
}
