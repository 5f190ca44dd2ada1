import type { Database, Sql } from '../database/database.ts';
import type { Runtime } from '../runtime.ts';
import { readLaunch, type VoteSelection } from './change-verdicts.ts';
import { lockDays } from './final-boards.ts';
import { readVotes } from './read-tally.ts';
import { readTallyLines, type TallyLine } from './tally-file.ts';
import { readSecret } from './vote-networks.ts';

/**
 * Reads the first `limit` votes of a launch in the order of its tally, optionally only those between `from` (inclusive)
 * and `to` (exclusive).
 * @throws CoreError `product_not_found`.
 */
export async function listVotes(
  database: Database,
  productId: string,
  { limit, runtime, from, to }: { limit: number; runtime: Runtime } & Pick<VoteSelection, 'from' | 'to'>,
): Promise<{ day: string; votes: TallyLine[] }> {
  return database.transaction(async (sql) => {
    const { day } = await readLaunch(sql, productId);
    const isFinal = (await lockDays(sql, [day])).length > 0;
    const votes: TallyLine[] = [];
    for await (const lines of isFinal ? readTallyLines(sql, day, productId) : rowLines(sql, day, productId, runtime)) {
      for (const { voter, at, counted, reason } of lines) {
        const time = Date.parse(at);
        if ((from && time < from.getTime()) || (to && time >= to.getTime()) || votes.length >= limit) continue;
        votes.push({ voter, at, counted, reason });
      }
      if (votes.length >= limit) break;
    }
    return { day, votes };
  });
}

async function* rowLines(sql: Sql, day: string, productId: string, runtime: Runtime): AsyncGenerator<TallyLine[]> {
  const secret = await readSecret(sql, day, runtime);
  if (secret === undefined) return;
  for await (const votes of readVotes(sql, [productId], secret)) {
    yield votes.map(({ voter, at, reason }) => ({ voter, at: at.toISOString(), counted: reason === null, reason }));
  }
}
