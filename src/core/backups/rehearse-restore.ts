import { createHash, randomBytes } from 'node:crypto';
import type { Database, Sql } from '../database/database.ts';
import { liftTimeLimits } from '../database/lift-time-limits.ts';
import { readMigrations } from '../database/migrate.ts';
import { readRows, readTableShapes, type TableShape } from '../exports/table-rows.ts';
import { PICTURES } from './backed-up-pictures.ts';
import { BackupFileError, type BackupHeader } from './backup-format.ts';
import { readBackup } from './read-backup.ts';
import { loadBackup } from './restore-backup.ts';
import { SITE_TABLES } from './site-tables.ts';

/** Thrown when all went well, so that the transaction is rolled back. */
class Rehearsed extends Error {}

/**
 * Restores a backup for trial: into a schema of its own, made by this program's migrations, and compares every row that is
 * there then with the backup. All of it is rolled back, whatever happens; nobody waits for it.
 * @throws BackupFileError, or what the database says, where it could not be restored.
 */
export async function rehearseRestore(database: Database, path: string, migrationsFolder: string): Promise<void> {
  const migrations = await readMigrations(migrationsFolder);
  const schema = `groundswell_rehearsal_${randomBytes(4).toString('hex')}`;
  try {
    await database.transaction(async (sql) => {
      await liftTimeLimits(sql);
      await sql.query("SET LOCAL TimeZone = 'UTC'");
      await sql.query(`CREATE SCHEMA ${schema}`);
      // No other schema: what the tables of the site are called, is here nothing but the rehearsal's.
      await sql.query(`SET LOCAL search_path = ${schema}`);
      for (const migration of migrations) await sql.query(migration.sql);
      const tables = await readTableShapes(sql, SITE_TABLES);
      const header = await loadBackup(sql, path, tables, { migrations: migrations.map(({ name }) => name) });
      await compare(sql, path, header, tables);
      throw new Rehearsed();
    });
  } catch (error) {
    if (!(error instanceof Rehearsed)) throw error;
  }
}

async function compare(sql: Sql, path: string, header: BackupHeader, tables: readonly TableShape[]): Promise<void> {
  const sums = new Map<string, string>();
  for await (const piece of readBackup(path)) if (piece.kind === 'table') sums.set(piece.table, piece.sha256);
  for (const { name, columns } of header.tables) {
    const shape = tables.find((table) => table.name === name);
    if (name === PICTURES || !shape) continue;
    const hash = createHash('sha256');
    for await (const rows of readRows(sql, { ...shape, columns })) hash.update(`${rows.join('\n')}\n`);
    if (hash.digest('hex') !== sums.get(name))
      throw new BackupFileError(`${path}: restored for trial, the rows of ${name} are not those of the backup.`);
  }
}
