import { AsyncLocalStorage } from 'node:async_hooks';
import { userInfo } from 'node:os';
import { AUDIT_LOG, MODERATION_LOG, recordChange } from '../changes/change-feed.ts';
import type { Sql } from '../database/database.ts';
import { afterCursor, collectValues, newestFirst, orderBy, pageOf } from '../keyset.ts';
import { isUuid, orderedUuid } from '../runtime.ts';

const auditContext = new AsyncLocalStorage<{ operator?: string; undoes?: string }>();

/** Runs `work` and attributes the audit entries that it adds to this console operator. */
export function runAsOperator<Result>(operator: string, work: () => Result): Result {
  return auditContext.run({ ...auditContext.getStore(), operator }, work);
}

/**
 * Runs `work` and marks the audit entries that it adds as reverting the entry `undoes`, unless they set `undoes`
 * themselves.
 */
export function runAsUndo<Result>(undoes: string, work: () => Result): Result {
  return auditContext.run({ ...auditContext.getStore(), undoes }, work);
}

/** Returns the name of the operating system user who runs this process. */
export function systemUser(): string {
  try {
    return userInfo().username;
  } catch {
    // A container may run as a user id that has no entry in its password file.
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}

/** The actions in the audit log, most of them named after commands. `groundswell log --json` prints these names. */
export const AUDIT_ACTIONS = [
  'products edit',
  'products postpone',
  'products remove',
  'products restore',
  'comments hide',
  'comments restore',
  'comments hold',
  'comments release',
  'votes exclude',
  'votes include',
  'votes undo',
  'submissions approve',
  'submissions schedule',
  'submissions decline',
  'submissions undo',
  'submissions key',
  'counts repair',
  'leaderboards repair',
  'sample load',
  'sample remove',
  'import',
  'import undo',
  'backup',
  'restore',
  'console invite',
  'console accept',
  'console revoke',
] as const;

export type AuditAction = (typeof AUDIT_ACTIONS)[number];

/** The actions that the public moderation log shows. */
export const MODERATION_ACTIONS = [
  'products remove',
  'products postpone',
  'comments hide',
  'comments hold',
  'votes exclude',
  'votes include',
  'submissions decline',
  'submissions undo',
  'sample remove',
] as const satisfies AuditAction[];

const isModeration = ({ action, undoes }: NewAuditEntry) =>
  typeof undoes === 'string' || (MODERATION_ACTIONS as readonly AuditAction[]).includes(action);

/** An entry to be written. It must not contain the text of a comment, or a visitor's session or IP address. */
interface NewAuditEntry {
  /** If unset, an id is generated. */
  id?: string;
  action: AuditAction;
  /** The object of the operation, such as a product id or a file name. */
  target: string;
  /** Contains only values that JSON can represent. */
  details?: object;
  /** The id of the entry that this one reverts; null if none. If unset, `runAsUndo` determines it. */
  undoes?: string | null | undefined;
}

// An entry is later than the one it undoes, even if the clock has moved back.
const INSERT_ENTRIES = `INSERT INTO audit_log (id, created_at, operator, action, target, details, undoes)
  SELECT id, greatest(clock_timestamp(),
      (SELECT undone.created_at + interval '1 millisecond' FROM audit_log undone WHERE undone.id = row.undoes)),
    $2, action, target, details, undoes
  FROM jsonb_to_recordset($1::jsonb) AS row (id uuid, action text, target text, details jsonb, undoes uuid)`;

/**
 * Adds entries to the audit log. Call it in the transaction that makes the change, so the entries exist if and only if
 * the change commits.
 * @returns the ids of the entries. @throws CoreError `unavailable`.
 */
export async function recordAudit(sql: Sql, entries: NewAuditEntry | readonly NewAuditEntry[]): Promise<string[]> {
  const rows = await insertEntries(sql, [entries].flat());
  if (rows.length === 0) return [];
  const productIds = rows.some(isModeration) ? [AUDIT_LOG, MODERATION_LOG] : [AUDIT_LOG];
  await recordChange(sql, { productIds, catalogue: false });
  return rows.map(({ id }) => id);
}

/**
 * Adds entries like `recordAudit`, but does not announce them to other processes. Long transactions call this function,
 * then record all their changes at the end, because a transaction must commit soon after it records a change.
 * @returns the entries, with their ids. @throws CoreError `unavailable`.
 */
export async function insertEntries(sql: Sql, entries: readonly NewAuditEntry[]) {
  const { operator = systemUser(), undoes: entryToUndo } = auditContext.getStore() ?? {};
  const rows = entries.map(({ id = orderedUuid(), details = {}, undoes = entryToUndo, ...entry }) => ({
    id,
    ...entry,
    undoes,
    details,
  }));
  if (rows.length > 0) await sql.query(INSERT_ENTRIES, [JSON.stringify(rows), operator]);
  return rows;
}

const SELECT_LAST = `SELECT target, id FROM (
    SELECT target, id, row_number() OVER (PARTITION BY target ORDER BY created_at DESC, id DESC) AS place
    FROM audit_log WHERE target = ANY($1::text[]) AND action = $2
  ) AS entries WHERE place = 1`;

/**
 * Finds the newest entry with this action for each target. Callers use its id as `undoes`.
 * @returns the ids of the entries by target. @throws CoreError `unavailable`.
 */
export async function lastAuditIds(
  sql: Sql,
  action: AuditAction,
  targets: readonly string[],
): Promise<Map<string, string>> {
  const rows = await sql.query<{ target: string; id: string }>(SELECT_LAST, [targets, action]);
  return new Map(rows.map(({ target, id }) => [target, id]));
}

export interface AuditEntry extends Required<Omit<NewAuditEntry, 'undoes'>> {
  undoes: string | null;
  /** ISO 8601, UTC. */
  createdAt: string;
  /** The operator of the console, or the operating system user who ran the command. */
  operator: string;
}

type AuditRow = Omit<AuditEntry, 'createdAt'> & { created_at: Date };

/**
 * Omits `before` from entries about votes: the field may list thousands of voters, and only `undoVerdicts` needs it.
 */
const COLUMNS = `id, created_at, operator, action, target,
  CASE WHEN action LIKE 'votes %' THEN details - 'before' ELSE details END AS details, undoes`;

/** Lists the newest entries that match the filter, newest first. @throws CoreError `unavailable`. */
export async function listAudit(sql: Sql, filter: AuditFilter): Promise<AuditEntry[]> {
  return (await browseAudit(sql, filter)).items.map(({ undoneBy: _undoneBy, ...entry }) => entry);
}

interface AuditFilter {
  operator?: string | undefined;
  /** The first word of an action, such as `comments`, or the whole action. */
  action?: string | undefined;
  target?: string | undefined;
  /** `since` is inclusive, `until` is exclusive. */
  since?: Date | undefined;
  until?: Date | undefined;
  cursor?: string | undefined;
  limit: number;
}

/** An entry and the id of the newest entry that reverted it, or null if none did. */
export type BrowsedAuditEntry = AuditEntry & { undoneBy: string | null };

type BrowsedRow = AuditRow & { undone_by: string | null };

const BROWSED_COLUMNS = `${COLUMNS},
  (SELECT u.id FROM audit_log u WHERE u.undoes = entries.id ORDER BY u.created_at DESC LIMIT 1) AS undone_by`;

const NEWEST = newestFirst<AuditRow>('audit', 'uuid');

/** Lists one page of the audit log, newest first. @throws CoreError `bad_cursor`, `unavailable`. */
export async function browseAudit(
  sql: Sql,
  { operator, action, target, since, until, cursor, limit }: AuditFilter,
): Promise<{ items: BrowsedAuditEntry[]; nextCursor: string | null }> {
  const { values, bind } = collectValues();
  const conditions = [
    'true',
    ...(operator === undefined ? [] : [`operator = ${bind(operator, 'text')}`]),
    ...(action === undefined ? [] : [`${bind(action, 'text')} IN (action, split_part(action, ' ', 1))`]),
    ...(target === undefined ? [] : [`target = ${bind(target, 'text')}`]),
    ...(since === undefined ? [] : [`created_at >= ${bind(since.toISOString(), 'timestamptz')}`]),
    ...(until === undefined ? [] : [`created_at < ${bind(until.toISOString(), 'timestamptz')}`]),
    ...(cursor === undefined ? [] : [afterCursor(NEWEST, cursor, bind)]),
  ];
  const rows = await sql.query<BrowsedRow>(
    `SELECT ${BROWSED_COLUMNS} FROM audit_log AS entries WHERE ${conditions.join(' AND ')}
     ORDER BY ${orderBy(NEWEST)} LIMIT ${limit + 1}`,
    values,
  );
  const { shown, nextCursor } = pageOf(NEWEST, rows, limit);
  return { items: (shown as typeof rows).map(browsedOf), nextCursor };
}

/** Reads one entry. @returns undefined if there is none with this id. @throws CoreError `unavailable`. */
export async function readAuditEntry(sql: Sql, id: string): Promise<BrowsedAuditEntry | undefined> {
  if (!isUuid(id)) return undefined;
  const [row] = await sql.query<BrowsedRow>(`SELECT ${BROWSED_COLUMNS} FROM audit_log AS entries WHERE id = $1`, [id]);
  return row && browsedOf(row);
}

/**
 * Locks the entry to undo until the transaction ends, so only one of two concurrent undos continues.
 * @returns false if another entry already reverts this one, or if it does not exist. @throws CoreError `unavailable`.
 */
export async function lockEntryToUndo(sql: Sql, id: string): Promise<boolean> {
  await sql.query('SELECT id FROM audit_log WHERE id = $1 FOR UPDATE', [id]);
  return (await readAuditEntry(sql, id))?.undoneBy === null;
}

function browsedOf({ created_at: createdAt, undone_by: undoneBy, ...entry }: BrowsedRow): BrowsedAuditEntry {
  return { ...entry, createdAt: createdAt.toISOString(), undoneBy };
}
