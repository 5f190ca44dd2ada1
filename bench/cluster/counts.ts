import { checkCounts } from '../../src/core/counts/check-counts.ts';
import type { Side } from './side.ts';

const TIMEOUT_MS = 2_000;

/**
 * Checks that every stored count equals the number of upvote rows, and that every site shows all acknowledged upvotes.
 * @throws Error with the differences.
 */
export async function assertCountsRight({ name, database, addresses, upvotes }: Side): Promise<void> {
  const rows = await database.query<{ product_id: string; upvotes: number }>(
    'SELECT product_id, upvotes FROM product_counts',
  );
  const stored = new Map(rows.map((row) => [row.product_id, row.upvotes]));
  const { wrong: drifting } = await checkCounts(database, { after: '', limit: rows.length });
  const sum = rows.reduce((total, row) => total + row.upvotes, 0);
  if (drifting.length > 0 || sum !== upvotes)
    throw new Error(
      `${name}: ${drifting.length} counts differ from their rows; counted ${sum} of ${upvotes} acknowledged upvotes`,
    );
  for (const address of addresses) {
    const deadline = performance.now() + TIMEOUT_MS;
    let wrong = await wrongAt(address, stored);
    while (wrong.length > 0 && performance.now() < deadline) wrong = await wrongAt(address, stored);
    if (wrong.length > 0) throw new Error(`${name}: ${address} shows wrong counts: ${wrong.slice(0, 5).join(', ')}`);
  }
}

interface Page {
  items: { id: string; upvotes: number }[];
  nextCursor: string | null;
}

/**
 * Reads all products page by page, like a client. @returns the products whose count differs from the stored one, or the
 * number of products if some are missing.
 */
async function wrongAt(address: string, stored: ReadonlyMap<string, number>): Promise<string[]> {
  const wrong: string[] = [];
  let cursor: string | null = null;
  let shown = 0;
  do {
    const after: string = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const response = await fetch(`${address}/api/products?limit=100${after}`);
    const page = (await response.json()) as Page;
    for (const { id, upvotes } of page.items) if (stored.get(id) !== upvotes) wrong.push(`${id} ${upvotes}`);
    shown += page.items.length;
    cursor = page.nextCursor;
  } while (cursor !== null);
  return shown === stored.size ? wrong : [`${shown} of ${stored.size} products`];
}
