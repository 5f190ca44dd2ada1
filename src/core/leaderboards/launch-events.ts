import type { PeriodKind } from '../../contract/leaderboards/period.ts';
import type { WebhookEvent } from '../../contract/webhooks/schema.ts';
import { getSampleTime } from '../catalogue/load-sample.ts';
import type { Sql } from '../database/database.ts';
import { DAY_MS } from '../runtime.ts';
import { windowStart } from './calendar.ts';
import { readSummaries } from './list-leaderboards.ts';

const SELECT_LAUNCHED = `SELECT p.id, p.name, p.maker, p.category, p.tags, l.launched_at
  FROM launches l JOIN products p ON p.id = l.product_id
  WHERE l.product_id = ANY($1::text[]) AND l.launched_at > greatest($2::timestamptz, $3::timestamptz)
  ORDER BY l.launched_at, p.id`;

interface LaunchedRow {
  id: string;
  name: string;
  maker: string;
  category: string;
  tags: string[];
  launched_at: Date;
}

/**
 * Returns the time after which launches are reported. Earlier launches may belong to the sample catalogue, if it was
 * loaded.
 */
async function readReportedSince(sql: Sql): Promise<string> {
  return (await getSampleTime(sql))?.now ?? '-infinity';
}

/**
 * Returns a `product.launched` event for each of these launches whose window is still open, so importing old products
 * sends no events. Launches from before the sample catalogue was loaded get no event.
 */
export async function readLaunchEvents(sql: Sql, productIds: readonly string[], now: Date): Promise<WebhookEvent[]> {
  const rows = await sql.query<LaunchedRow>(SELECT_LAUNCHED, [
    productIds,
    windowStart(now),
    await readReportedSince(sql),
  ]);
  return rows.map(({ id: productId, launched_at, ...product }) => ({
    type: 'product.launched',
    timestamp: launched_at.toISOString(),
    data: { productId, ...product },
  }));
}

/**
 * The longest review (30 days) plus a week: if the review is shortened, pending results become final with times in the
 * past, and these results must be reported, too.
 */
const MAX_FINAL_AGE_MS = 37 * DAY_MS;

/**
 * Returns a `leaderboard.final` event for each of these final periods of one kind that has a launch, unless all its
 * launches are from before the sample catalogue was loaded. Results that were due long ago get no event, so importing
 * old products does not send thousands of events.
 */
export async function readFinalEvents(
  sql: Sql,
  { kind, periods, now }: { kind: PeriodKind; periods: readonly string[]; now: Date },
): Promise<WebhookEvent[]> {
  const since = new Date(now.getTime() - MAX_FINAL_AGE_MS).toISOString();
  const rows = await readSummaries(sql, kind, {
    condition: `b.final_at > $2::timestamptz AND b.period IN (
      SELECT ${kind} FROM launches WHERE ${kind} = ANY($1::text[]) AND launched_at > $3::timestamptz)`,
    values: [periods, since, await readReportedSince(sql)],
    limit: periods.length,
  });
  return rows.map((row) => ({
    type: 'leaderboard.final',
    timestamp: row.final_at?.toISOString() ?? '',
    data: {
      period: row.period,
      kind,
      from: row.from_at.toISOString(),
      to: row.to_at.toISOString(),
      revision: row.revision,
      digest: row.digest,
      launches: row.launches,
      winners: row.winners,
    },
  }));
}
