import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Finding } from '../../contract/console/records.ts';
import { formatQuantity } from '../../contract/text.ts';
import type { Connection } from '../database/connect.ts';
import type { Sql } from '../database/database.ts';
import { readMigrations } from '../database/migrate.ts';
import { systemCode } from '../file-system.ts';
import { WINDOW_MS } from '../leaderboards/calendar.ts';
import type { LeaderboardRules } from '../leaderboards/get-leaderboard.ts';
import { PICTURE_GRACE_MS, readPictureReferences } from '../pictures/delete-unreferenced.ts';
import { isIntact, listPictures, pictureFolder, readPicture } from '../pictures/picture-store.ts';
import { DAY_MS, HOUR_MS } from '../runtime.ts';
import { countWaiting } from '../submissions/list-submissions.ts';
import { EXPIRY_HOURS, readWebhookStatus, receiverOf } from '../webhooks/outbox.ts';
import type { ReceiverAddress } from '../webhooks/send-event.ts';
import {
  checkClock,
  checkConnections,
  checkIndexes,
  checkMigrations,
  checkReplica,
  checkSearch,
  checkServer,
  checkSomeCounts,
} from './check-database.ts';
import { failure, ok, warning } from './finding.ts';

interface SiteToExamine {
  /** Returns the maximum number of connections of all processes of the site if the database allows `limit`. */
  connections: (limit: number) => number;
  /** The folder of the migrations. */
  migrations: string;
  settings: {
    dataDir: string;
    replicaUrls: readonly string[];
    launches: Omit<LeaderboardRules, 'now'>;
    submissions: string;
    /** If undefined, no webhooks are sent. */
    webhooks: ReceiverAddress | undefined;
  };
  now: Date;
  /** Whether to read every picture, which may take minutes. */
  readsPictures: boolean;
}

/**
 * Runs the checks of `groundswell doctor` that need the database, one after the other; replicas are checked
 * concurrently.
 */
export async function* runDatabaseChecks(
  {
    database,
    location,
    withoutStatementTimeout,
  }: Pick<Connection, 'database' | 'location' | 'withoutStatementTimeout'>,
  { connections, migrations: folder, settings, now, readsPictures }: SiteToExamine,
): AsyncGenerator<Finding> {
  yield await checkServer(database, location);
  yield await checkConnections(database, connections);
  yield* await Promise.all(settings.replicaUrls.map((url) => checkReplica(database, url)));
  const migrations = await checkMigrations(
    database,
    (await readMigrations(folder)).map(({ name }) => name),
  );
  yield migrations;
  yield await checkClock(database);
  // The checks below require the current schema version.
  if (migrations.status !== 'ok') return;
  yield await checkSearch(database);
  yield await checkIndexes(database);
  yield await checkSomeCounts(database);
  yield await checkLeaderboards(database, { ...settings.launches, now });
  const store = pictureFolder(settings.dataDir);
  yield await withoutStatementTimeout((unlimited) => checkPictures(unlimited, store, now, readsPictures));
  yield await checkSubmissions(database, { isOn: settings.submissions !== 'off', now });
  if (settings.webhooks) yield await checkWebhooks(database, settings.webhooks, now);
}

/** A result that is this late needs attention, because the background job checks several times a minute. */
const LATE_MS = HOUR_MS;

const SELECT_STATE = `SELECT
    (SELECT count(*)::integer FROM leaderboards WHERE final_at IS NULL AND to_at <= $1::timestamptz) AS overdue,
    (SELECT min(period) FROM leaderboards WHERE final_at IS NULL AND to_at <= $1::timestamptz) AS oldest,
    (SELECT count(*)::integer FROM tally_secrets s JOIN leaderboards b ON b.period = s.day WHERE b.final_at IS NOT NULL) AS secrets,
    (SELECT min(time_zone) FROM leaderboards WHERE final_at IS NULL AND time_zone <> $2) AS other_zone,
    (SELECT count(*)::integer FROM leaderboards WHERE final_at IS NULL) AS open`;

interface State {
  overdue: number;
  oldest: string | null;
  secrets: number;
  other_zone: string | null;
  open: number;
}

/**
 * Checks that results became final when they were due, that the secrets of finalized days have been deleted, and that
 * open periods use SITE_TIME_ZONE.
 * @throws CoreError `unavailable`.
 */
export async function checkLeaderboards(sql: Sql, { now, timeZone, reviewHours }: LeaderboardRules): Promise<Finding> {
  const dueBefore = new Date(now.getTime() - WINDOW_MS - reviewHours * HOUR_MS - LATE_MS);
  const [state] = await sql.query<State>(SELECT_STATE, [dueBefore.toISOString(), timeZone]);
  if (state === undefined) return ok('leaderboards', 'there are none');
  if (state.secrets > 0) {
    return warning(
      'leaderboards',
      `secrets of finalized days are still stored (${state.secrets}), so the hashes of voters can still be linked to sessions`,
      'While the site runs, it deletes them. If they remain, check its log.',
    );
  }
  if (state.overdue > 0) {
    return warning(
      'leaderboards',
      `overdue results: ${state.overdue}, for example ${state.oldest}`,
      'While the site runs, it makes results final within a minute. If they remain overdue, check its log.',
    );
  }
  if (state.other_zone !== null) {
    return warning(
      'leaderboards',
      `some open periods use the time zone ${state.other_zone}, but SITE_TIME_ZONE is ${timeZone}`,
      'Launches that are on a leaderboard keep their periods. Set SITE_TIME_ZONE back, or wait until these periods are final.',
    );
  }
  return ok('leaderboards', `open periods: ${state.open}; no result is overdue`);
}

/** The number of days after which a submission has waited too long for a decision. */
const LATE_DAYS = 3;

/**
 * Checks that no submission has waited too long for a decision, and that submissions are enabled while any wait, so
 * their makers can read the decisions.
 * @throws CoreError `unavailable`.
 */
export async function checkSubmissions(sql: Sql, { isOn, now }: { isOn: boolean; now: Date }): Promise<Finding> {
  const { waiting, suspectedSpam, oldestSince } = await countWaiting(sql);
  const amount = `${waiting} waiting for a decision, ${suspectedSpam} of them suspected spam`;
  const days = oldestSince === null ? 0 : Math.floor((now.getTime() - oldestSince.getTime()) / DAY_MS);
  if (days >= LATE_DAYS) {
    return warning('submissions', `${amount}; the oldest for ${days} days`, 'Run `groundswell submissions list`.');
  }
  if (!isOn && waiting > 0) {
    return warning(
      'submissions',
      `${amount}, but SUBMISSIONS is off, so their makers cannot read the decision`,
      'Set SUBMISSIONS=moderated and review them, or decline them.',
    );
  }
  return ok('submissions', isOn || waiting > 0 ? amount : 'off');
}

/** Failures for a shorter time are not reported, because the receiver may be restarting. */
const MAX_FAILING_MS = 5 * 60_000;

/** Checks that webhooks are delivered. @throws CoreError `unavailable`. */
export async function checkWebhooks(sql: Sql, receiver: ReceiverAddress, now: Date): Promise<Finding> {
  const check = 'webhooks';
  const { waiting, expired, failingSince, lastFailure, goneAt } = await readWebhookStatus(sql, receiverOf(receiver));
  if (goneAt) {
    return failure(
      check,
      `the receiver responded 410 Gone at ${goneAt.toISOString()}, so deliveries are stopped`,
      'Correct WEBHOOK_URL, remove it, or resume with `groundswell webhooks retry`.',
    );
  }
  if (failingSince && now.getTime() - failingSince.getTime() > MAX_FAILING_MS) {
    return warning(
      check,
      `no delivery has succeeded since ${failingSince.toISOString()} (${lastFailure}); ${waiting} waiting, ${expired} expired`,
      'Check the receiver, then run `groundswell webhooks test` and `groundswell webhooks retry`.',
    );
  }
  if (expired > 0) {
    return warning(
      check,
      `not delivered within ${EXPIRY_HOURS} hours: ${expired}`,
      'Run `groundswell webhooks list --undelivered` to see them, and `groundswell webhooks retry` to send them again.',
    );
  }
  return ok(check, `no delivery is failing; ${waiting} waiting`);
}

const CHECK = 'pictures';
const MAX_NAMED = 3;
const ADVICE_TO_REPLACE =
  'Copy the folder from a backup of this machine or from the machine that has the pictures, or upload the pictures again.';

/** An unreferenced picture of this age should have been deleted, because the background job runs every hour. */
const OVERDUE_MS = PICTURE_GRACE_MS + 2 * HOUR_MS;

/**
 * Checks that the site's store has all pictures that rows reference, and no old unreferenced ones. With `reads`, also
 * reads the referenced pictures to find damaged ones.
 * @throws CoreError `unavailable`.
 */
export async function checkPictures(sql: Sql, folder: string, now: Date, reads = true): Promise<Finding> {
  const references = await readPictureReferences(sql, now);
  try {
    const stored = new Set(await listPictures(folder));
    const missing = [...references].filter((name) => !stored.has(name)).sort();
    if (missing.length > 0) {
      return warning(
        CHECK,
        `${folder} lacks ${missing.length} of ${references.size} pictures: ${firstOf(missing)}`,
        ADVICE_TO_REPLACE,
      );
    }
    const damaged = reads ? await findDamaged(folder, [...references].sort()) : [];
    if (damaged.length > 0) {
      return warning(
        CHECK,
        `${folder} has ${formatQuantity(damaged.length, 'damaged picture')}, which backups leave out: ${firstOf(damaged)}`,
        ADVICE_TO_REPLACE,
      );
    }
    return await describeUnreferenced(
      folder,
      [...stored].filter((name) => !references.has(name)),
      { stored: stored.size, now },
    );
  } catch (error) {
    return warning(
      CHECK,
      `cannot read ${folder} (${systemCode(error) ?? error})`,
      'Give the user that runs Groundswell read access to the folder.',
    );
  }
}

function firstOf(names: readonly string[]): string {
  return [...names.slice(0, MAX_NAMED), ...(names.length > MAX_NAMED ? ['…'] : [])].join(', ');
}

async function findDamaged(folder: string, names: readonly string[]): Promise<string[]> {
  const damaged: string[] = [];
  for (const name of names) {
    const content = await readPicture(folder, name);
    if (content && !isIntact(name, content)) damaged.push(name);
  }
  return damaged;
}

async function describeUnreferenced(
  folder: string,
  names: readonly string[],
  { stored, now }: { stored: number; now: Date },
): Promise<Finding> {
  const found = await Promise.all(names.map((name) => stat(join(folder, name)).catch(() => undefined)));
  // A running site may have deleted some of these pictures in the meantime.
  const files = found.filter((each) => each !== undefined);
  const bytes = files.reduce((sum, { size }) => sum + size, 0);
  const unreferenced = `${files.length} unreferenced (${(bytes / 1024 / 1024).toFixed(1)} MiB)`;
  const message = `${stored} stored${files.length > 0 ? `, ${unreferenced}` : ''}`;
  if (files.some(({ mtimeMs }) => now.getTime() - mtimeMs > OVERDUE_MS)) {
    return warning(
      CHECK,
      `${message}, some for more than a day`,
      'Check the log of the site for the reason, and check that DATABASE_URL and DATA_DIR belong to the same site.',
    );
  }
  return ok(CHECK, message);
}
