import { access } from 'node:fs/promises';
import {
  MAX_COUNTED_PRODUCTS,
  MAX_WAITING,
  type OverviewRecord,
  type WaitingRecord,
} from '../../contract/console/records.ts';
import { PERIOD_KINDS, type PeriodKind } from '../../contract/leaderboards/period.ts';
import { newestBackupOf, scheduledTime } from '../backups/backup-file.ts';
import { WAITING } from '../comments/comment-row.ts';
import type { Sql } from '../database/database.ts';
import { periodsAt } from '../leaderboards/calendar.ts';
import { getLeaderboard, type LeaderboardRules } from '../leaderboards/get-leaderboard.ts';
import type { Activity } from '../stats/read-stats.ts';
import { LISTED_BURST } from '../stats/upvote-bursts.ts';

const BOARD_ROWS = 5;

interface Options {
  rules: LeaderboardRules;
  /** The folder of scheduled backups; undefined if no backups are scheduled. */
  backupFolder?: string | undefined;
  /** The data of the charts, which may be up to a minute old. */
  activity: Activity;
}

/** Reads the data of the console's overview screen. @throws CoreError `unavailable`. */
export async function readOverview(sql: Sql, { rules, backupFolder, activity }: Options): Promise<OverviewRecord> {
  const { now, timeZone } = rules;
  const periods = periodsAt(now, timeZone);
  const [boards, waiting, database, lastBackupAt] = await Promise.all([
    Promise.all(PERIOD_KINDS.map((kind) => readBoard(sql, kind, periods[kind], rules))),
    readWaiting(sql),
    readSize(sql),
    readLastBackup(sql, backupFolder),
  ]);
  return { ...activity, boards, waiting, lastBackupAt, backupsScheduled: backupFolder !== undefined, database };
}

async function readBoard(sql: Sql, kind: PeriodKind, period: string, rules: LeaderboardRules) {
  const board = await getLeaderboard(sql, period, { limit: BOARD_ROWS }, rules);
  const rows = (board?.items ?? []).map(({ productId, name, rank, votes }) => ({ productId, name, rank, votes }));
  return { kind, period, rows };
}

const COUNT_WAITING = `SELECT
    (SELECT count(*)::integer FROM (SELECT 1 FROM comments WHERE ${WAITING} LIMIT ${MAX_WAITING}) AS held) AS held,
    (SELECT count(*)::integer FROM (SELECT 1 FROM submissions WHERE status = 'waiting' LIMIT ${MAX_WAITING}) AS submitted) AS submissions,
    (SELECT count(*)::integer FROM (SELECT 1 FROM upvote_bursts b JOIN products p ON p.id = b.product_id
      WHERE ${LISTED_BURST} LIMIT ${MAX_WAITING}) AS burst) AS bursts`;

/**
 * Counts the items that wait for a decision. Counting stops at `MAX_WAITING` of each kind, because every open page of
 * the console requests these numbers.
 * @throws CoreError `unavailable`.
 */
export async function readWaiting(sql: Sql): Promise<WaitingRecord> {
  const [row] = await sql.query<{ held: number; submissions: number; bursts: number }>(COUNT_WAITING);
  return { heldComments: row?.held ?? 0, submissions: row?.submissions ?? 0, bursts: row?.bursts ?? 0 };
}

/** Includes the planner's estimate, because counting a million products takes too long for an overview. */
const SELECT_SIZE = `SELECT pg_database_size(current_database())::float8 AS bytes,
    (SELECT greatest(reltuples, 0)::float8 FROM pg_class WHERE oid = 'products'::regclass) AS estimate,
    (SELECT count(*)::integer FROM (SELECT 1 FROM products LIMIT ${MAX_COUNTED_PRODUCTS + 1}) AS first_rows) AS counted`;

async function readSize(sql: Sql): Promise<OverviewRecord['database']> {
  const [row] = await sql.query<{ bytes: number; estimate: number; counted: number }>(SELECT_SIZE);
  const { bytes = 0, estimate = 0, counted = 0 } = row ?? {};
  // Until the table is analyzed, the estimate is 0 or too low.
  return { bytes, products: counted > MAX_COUNTED_PRODUCTS ? Math.max(counted, Math.round(estimate)) : counted };
}

const LAST_BACKUP = "SELECT created_at FROM audit_log WHERE action = 'backup' ORDER BY created_at DESC LIMIT 1";

/**
 * Returns the time of this database's newest backup (scheduled, by command or downloaded from the console) as ISO 8601;
 * null if there is none.
 */
async function readLastBackup(sql: Sql, folder: string | undefined): Promise<string | null> {
  const [entry] = await sql.query<{ created_at: Date }>(LAST_BACKUP);
  const scheduled = folder === undefined ? undefined : await timeOfNewest(sql, folder);
  const newest = Math.max(entry?.created_at.getTime() ?? 0, scheduled?.getTime() ?? 0);
  return newest === 0 ? null : new Date(newest).toISOString();
}

async function timeOfNewest(sql: Sql, folder: string): Promise<Date | undefined> {
  try {
    const path = await newestBackupOf(sql, folder);
    if (path === undefined) return undefined;
    await access(path);
    return scheduledTime(path);
  } catch {
    // The overview also shows the findings of `doctor`, which report a folder or a backup that cannot be read.
    return undefined;
  }
}
