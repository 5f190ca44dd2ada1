import { formatQuantity } from '../../contract/text.ts';
import { recordAudit } from '../audit/audit-log.ts';
import { recordEverythingChanged } from '../changes/change-feed.ts';
import type { Database, Sql } from '../database/database.ts';
import { isSerializationFailure } from '../database/database-errors.ts';
import { disableTimeouts, waitForLock } from '../database/transactions.ts';
import { LOCK_IMPORTS } from '../imports/merge-products.ts';
import {
  BackupFileError,
  type BackupHeader,
  cannotRestore,
  type OnDamagedPicture,
  PICTURES,
  restorePicture,
} from './backup-file.ts';
import { readBackup } from './read-backup.ts';
import { readTableShapes, SITE_TABLES, type TableShape, writeRows } from './site-tables.ts';

interface RestoreOptions {
  /** Whether the backup may replace a site that has data. */
  replace: boolean;
  /** The names of the migrations that this program has. */
  migrations: readonly string[];
  /** The folder of the site's own pictures. If unset, the pictures of the backup are skipped. */
  pictureFolder?: string | undefined;
  onDamagedPicture?: OnDamagedPicture | undefined;
  /** The target of the entry in the audit log: the file name of the backup, or the database that was moved. */
  target: string;
  /** Called regularly with the number of rows restored so far. */
  onProgress?: ((rows: number) => void) | undefined;
}

/** Thrown by a restore without `replace` into a site that has data. */
export class SiteNotEmptyError extends Error {
  override readonly name = 'SiteNotEmptyError';

  /** @param content the data of the site, such as `67 products`. */
  constructor(readonly content: string) {
    super(`This site is not empty: it has ${content}. Add --replace to discard everything on it. Nothing was changed.`);
  }
}

/**
 * The maximum number of attempts to lock the tables, which may deadlock with concurrent writes. Another attempt is
 * safe, because nothing has been changed yet.
 */
const LOCK_ATTEMPTS = 10;

/**
 * Restores a backup in one transaction. Until it commits, visitors of a running site read the previous state, and their
 * writes wait. The schema must be up to date; columns that are newer than the backup get their defaults. Verify the
 * backup first, so writers do not wait for a restore that fails. `database` must have no statement timeout.
 * @throws BackupFileError, SiteNotEmptyError; CoreError `unavailable`.
 */
export async function restoreBackup(database: Database, path: string, options: RestoreOptions): Promise<BackupHeader> {
  for (let attempt = 1; ; attempt += 1) {
    let isLocked = false;
    try {
      const header = await database.transaction(async (sql) => {
        const tables = await readTableShapes(sql, SITE_TABLES);
        // Requires an empty site before locking as well, so a refused restore does not block writers.
        if (!options.replace) await requireEmpty(sql);
        await lockTables(sql, tables, () => options.onProgress?.(0));
        isLocked = true;
        if (!options.replace) await requireEmpty(sql);
        for (const { name } of tables.toReversed()) await sql.query(`DELETE FROM ${name}`);
        const restored = await loadBackup(sql, path, tables, options);
        const rows = Object.fromEntries(restored.tables.map((table) => [table.name, table.rows]));
        await recordAudit(sql, {
          action: 'restore',
          target: options.target,
          details: { createdAt: restored.createdAt, rows },
        });
        await recordEverythingChanged(sql);
        return restored;
      });
      await refreshStatistics(database);
      return header;
    } catch (error) {
      if (isLocked || attempt === LOCK_ATTEMPTS || !isSerializationFailure(error)) throw error;
    }
  }
}

/**
 * Fills empty tables from a backup, and stores its pictures if a folder is given. Call it in a transaction.
 * @throws BackupFileError if the backup is damaged or does not fit the tables.
 */
export async function loadBackup(
  sql: Sql,
  path: string,
  tables: readonly TableShape[],
  options: Pick<RestoreOptions, 'migrations' | 'pictureFolder' | 'onDamagedPicture' | 'onProgress'>,
): Promise<BackupHeader> {
  const shapes = new Map<string, TableShape>();
  let header: BackupHeader | undefined;
  let loaded = 0;
  for await (const piece of readBackup(path)) {
    if (piece.kind === 'header') {
      header = piece.header;
      requireCompatible(path, header, tables, options.migrations);
      for (const { name, columns } of header.tables) shapes.set(name, { name, columns, key: [] });
    } else if (piece.kind === 'rows') {
      const shape = shapes.get(piece.table);
      if (piece.table === PICTURES) await restorePictures(piece.lines, path, options);
      else if (shape) await writeRows(sql, shape, piece.lines);
      loaded += piece.lines.length;
      options.onProgress?.(loaded);
    }
  }
  if (!header) throw cannotRestore(path, 'it is empty');
  return header;
}

/**
 * Writes pictures before the commit, so committed rows never reference a missing file. An unreferenced file is
 * harmless.
 */
async function restorePictures(
  lines: readonly string[],
  path: string,
  { pictureFolder, onDamagedPicture: onDamaged }: Pick<RestoreOptions, 'pictureFolder' | 'onDamagedPicture'>,
): Promise<void> {
  if (pictureFolder === undefined) return;
  for (const line of lines) await restorePicture(pictureFolder, line, { path, onDamaged });
}

/** Locks the tables until the end of the transaction. Writers wait; readers do not. */
async function lockTables(sql: Sql, tables: readonly TableShape[], onWait: () => void): Promise<void> {
  await disableTimeouts(sql);
  // An import may hold its locks for minutes. Waiting for the lock on imports first does not block visitors, who never
  // take that lock.
  await waitForLock(sql, LOCK_IMPORTS, onWait);
  // Locks `product_counts` first, as most writers do.
  const names = ['product_counts', ...tables.map(({ name }) => name).filter((name) => name !== 'product_counts')];
  await waitForLock(sql, `LOCK TABLE ${names.join(', ')} IN EXCLUSIVE MODE`, onWait);
}

const COUNT_CONTENT = `SELECT 'product' AS noun, count(*)::integer AS count FROM products
  UNION ALL SELECT 'removed product', count(*)::integer FROM removed_products
  UNION ALL SELECT 'submission', count(*)::integer FROM submissions
  UNION ALL SELECT 'final result', count(*)::integer FROM leaderboards WHERE final_at IS NOT NULL`;

/**
 * Checks that a site has no products (including removed ones), no submissions and no final results; all other rows that
 * visitors write reference one of these. Site metadata and the audit log may be discarded.
 * @throws SiteNotEmptyError
 */
export async function requireEmpty(sql: Sql): Promise<void> {
  const counts = await sql.query<{ noun: string; count: number }>(COUNT_CONTENT);
  const content = counts.filter(({ count }) => count > 0).map(({ count, noun }) => formatQuantity(count, noun));
  if (content.length > 0) throw new SiteNotEmptyError(new Intl.ListFormat('en').format(content));
}

/**
 * Checks that this program has all of the backup's migrations, and that the schema has all of the backup's tables and
 * columns.
 * @throws BackupFileError if not.
 */
function requireCompatible(
  path: string,
  header: BackupHeader,
  tables: readonly TableShape[],
  migrations: readonly string[],
): void {
  const newer = header.migrations.find((name) => !migrations.includes(name));
  if (newer !== undefined) {
    throw new BackupFileError(
      `${path} was made by a newer Groundswell (${header.groundswell}; its schema has ${newer}): upgrade first. Nothing was changed.`,
    );
  }
  for (const { name, columns } of header.tables) {
    if (name === PICTURES) continue;
    const present = tables.find((table) => table.name === name)?.columns;
    const missing = present ? columns.find((column) => !present.includes(column)) : '';
    if (missing === undefined) continue;
    throw new BackupFileError(
      `${path} contains ${missing === '' ? `a table ${name}` : `a column ${name}.${missing}`} that this version does not have: restore it with Groundswell ${header.groundswell}, then upgrade. Nothing was changed.`,
    );
  }
}

/**
 * Updates the planner's statistics, so other processes replace prepared plans that would be slow for the restored data.
 * Call it after the commit, because it takes seconds. `SKIP_LOCKED` prevents a deadlock with a concurrent index build,
 * which waits for all transactions, and which updates the size of the skipped table itself.
 */
async function refreshStatistics(database: Database): Promise<void> {
  try {
    for (const name of SITE_TABLES) await database.query(`ANALYZE (SKIP_LOCKED) ${name}`);
  } catch {
    // The error is ignored, because the site has been restored, and autovacuum updates the statistics within minutes.
  }
}
