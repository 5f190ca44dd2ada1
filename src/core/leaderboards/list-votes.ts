import type { TallyLine, VoteList } from '../../contract/console/records.ts';
import type { Database, Sql } from '../database/database.ts';
import { holdSnapshot } from '../database/transactions.ts';
import type { Runtime } from '../runtime.ts';
import { readLaunch, type VoteSelection } from './change-verdicts.ts';
import { isUndecided, readVotes } from './read-tally.ts';
import { readTallyLines } from './tally-file.ts';
import { readSecret } from './vote-networks.ts';

/**
 * Reads the first `limit` votes of a launch in the order of its tally, optionally only votes between `from` (inclusive)
 * and `to` (exclusive).
 * @throws CoreError `product_not_found`.
 */
export async function listVotes(
  database: Database,
  productId: string,
  options: { limit: number; runtime: Runtime } & Pick<VoteSelection, 'from' | 'to'>,
): Promise<VoteList> {
  const { limit, runtime, from, to } = options;
  const { day } = await readLaunch(database, productId);
  // Reads the secret before the read-only snapshot begins, because the first reader of a day stores a new secret. Does
  // not lock the day, because new launches would wait until all votes have been read.
  const secret = await readSecret(database, day, runtime);
  const list = await database.transaction(async (sql) => {
    await holdSnapshot(sql);
    // The launch may have moved to another day, which has another secret.
    if ((await readLaunch(sql, productId)).day !== day) return undefined;
    const isOpen = secret !== undefined && (await isUndecided(sql, day));
    const votes: TallyLine[] = [];
    for await (const lines of isOpen ? rowLines(sql, productId, secret) : readTallyLines(sql, day, productId)) {
      for (const { voter, at, counted, reason } of lines) {
        const time = Date.parse(at);
        if ((from && time < from.getTime()) || (to && time >= to.getTime()) || votes.length >= limit) continue;
        votes.push({ voter, at, counted, reason });
      }
      if (votes.length >= limit) break;
    }
    return { day, votes };
  });
  return list ?? listVotes(database, productId, options);
}

async function* rowLines(sql: Sql, productId: string, secret: Buffer): AsyncGenerator<TallyLine[]> {
  for await (const votes of readVotes(sql, [productId], secret)) {
    yield votes.map(({ voter, at, reason }) => ({ voter, at: at.toISOString(), counted: reason === null, reason }));
  }
}
