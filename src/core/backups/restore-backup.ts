import { recordAct } from '../audit/record-act.ts';
import { noteEverythingChanged } from '../changes/change-feed.ts';
import type { Database, Sql } from '../database/database.ts';
import { isSerializationFailure } from '../database/database-faults.ts';
import { liftTimeLimits } from '../database/lift-time-limits.ts';
import { readTableShapes, type TableShape, writeRows } from '../exports/table-rows.ts';
import { PICTURES, restorePicture } from './backed-up-pictures.ts';
import { BackupFileError, type BackupHeader } from './backup-format.ts';
import { readBackup } from './read-backup.ts';
import { SITE_TABLES } from './site-tables.ts';

export interface RestoreOptions {
  /** Whether a site that is not empty is given up for the backup. */
  replace: boolean;
  /** The migrations that this program knows, by name. */
  migrations: readonly string[];
  /** Where the site's own pictures go; without it those of the backup are passed over. */
  pictureFolder?: string | undefined;
  /** What the record of the operator's acts calls the backup. */
  subject: string;
  /** Told now and then how many rows of the backup are there. */
  onProgress?: ((rows: number) => void) | undefined;
}

/** A site that holds something, where only an empty one was to be filled. */
export class SiteNotEmptyError extends Error {
  override readonly name = 'SiteNotEmptyError';
}

/** Locks may be asked for crosswise with writes under way; nothing is done yet then, and the next try waits for others. */
const LOCK_ATTEMPTS = 10;

/**
 * Makes the site what it was when a backup was made, all of it or nothing, in one transaction: until its end, visitors of a
 * running site read what was there before, and their writes wait. The schema must be up to date; columns that came after the
 * backup take their defaults. The backup should have been verified before: what turns out to be broken on the way is rolled back.
 * `database` must give statements the time they need.
 * @throws BackupFileError, SiteNotEmptyError; CoreError `unavailable`.
 */
export async function restoreBackup(database: Database, path: string, options: RestoreOptions): Promise<BackupHeader> {
  for (let attempt = 1; ; attempt += 1) {
    let isLocked = false;
    try {
      const header = await database.transaction(async (sql) => {
        const tables = await readTableShapes(sql, SITE_TABLES);
        await lockTables(sql, tables);
        isLocked = true;
        if (!options.replace) await mustBeEmpty(sql);
        for (const { name } of tables.toReversed()) await sql.query(`DELETE FROM ${name}`);
        const restored = await loadBackup(sql, path, tables, options);
        const rows = Object.fromEntries(restored.tables.map((table) => [table.name, table.rows]));
        await recordAct(sql, {
          act: 'restore',
          subject: options.subject,
          details: { createdAt: restored.createdAt, rows },
        });
        await noteEverythingChanged(sql);
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
 * Fills tables that are empty from a backup, within a transaction.
 * @throws BackupFileError for a backup that is broken, or that the tables have no place for.
 */
export async function loadBackup(
  sql: Sql,
  path: string,
  tables: readonly TableShape[],
  { migrations, pictureFolder, onProgress }: Pick<RestoreOptions, 'migrations' | 'pictureFolder' | 'onProgress'>,
): Promise<BackupHeader> {
  const shapes = new Map<string, TableShape>();
  let header: BackupHeader | undefined;
  let loaded = 0;
  for await (const piece of readBackup(path)) {
    if (piece.kind === 'header') {
      header = piece.header;
      mustFit(path, header, tables, migrations);
      for (const { name, columns } of header.tables) shapes.set(name, { name, columns, key: [] });
    } else if (piece.kind === 'rows') {
      const shape = shapes.get(piece.table);
      if (piece.table === PICTURES) await restorePictures(pictureFolder, piece.lines);
      else if (shape) await writeRows(sql, shape, piece.lines);
      loaded += piece.lines.length;
      onProgress?.(loaded);
    }
  }
  if (!header) throw new BackupFileError(`${path} is empty.`);
  return header;
}

/** A picture that no row names harms nobody, so that they need not wait for the commit, and must be there before it. */
async function restorePictures(folder: string | undefined, lines: readonly string[]): Promise<void> {
  if (folder === undefined) return;
  for (const line of lines) await restorePicture(folder, line);
}

/** Writers wait from here on, and readers do not. */
async function lockTables(sql: Sql, tables: readonly TableShape[]): Promise<void> {
  await liftTimeLimits(sql);
  // First that of the counts, which most writers lock first as well.
  const names = ['product_counts', ...tables.map(({ name }) => name).filter((name) => name !== 'product_counts')];
  await sql.query(`LOCK TABLE ${names.join(', ')} IN EXCLUSIVE MODE`);
}

/**
 * What the site remembers of itself, and what its operator did, does not make it one that would be missed.
 * @throws SiteNotEmptyError
 */
export async function mustBeEmpty(sql: Sql): Promise<void> {
  // One table a statement, since they may lie on several servers. Nothing that visitors wrote is there without its product.
  const [found] = await sql.query<{ products: number }>('SELECT count(*)::integer AS products FROM products');
  if (!found || found.products === 0) return;
  throw new SiteNotEmptyError(
    `This site is not empty: it has ${found.products.toLocaleString('en')} products. Add --replace to give all of them up for the backup. Nothing was changed.`,
  );
}

/** @throws BackupFileError when the backup holds something that this schema has no place for. */
function mustFit(
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
      `${path} holds ${missing === '' ? `a table ${name}` : `a column ${name}.${missing}`} that this Groundswell has not: restore it with ${header.groundswell} and upgrade then. Nothing was changed.`,
    );
  }
}

/** The planner's picture of the tables is that of before; until it is refreshed, pages would be slow. */
async function refreshStatistics(database: Database): Promise<void> {
  for (const name of SITE_TABLES) await database.query(`ANALYZE ${name}`);
}
