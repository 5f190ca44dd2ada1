import { createHash } from 'node:crypto';
import { open, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import type { Database, Sql } from '../database/database.ts';
import { liftTimeLimits } from '../database/lift-time-limits.ts';
import { holdSnapshot, readRows, readTableShapes, type TableShape } from '../exports/table-rows.ts';
import { syncFolder } from '../sync-folder.ts';
import { listPictures, PICTURES, pictureLine } from './backed-up-pictures.ts';
import { BACKUP_VERSION, type BackedUpTable, type BackupHeader, markLine } from './backup-format.ts';
import { SITE_TABLES } from './site-tables.ts';

export interface WriteBackupOptions {
  /** The version of the program. */
  groundswell: string;
  /** The site's own pictures; without it the backup has none. */
  pictureFolder?: string | undefined;
  /** Told now and then how many rows of all are written. */
  onProgress?: ((rows: number, allRows: number) => void) | undefined;
  /** Ends the work, which then leaves no file. */
  signal?: AbortSignal | undefined;
}

export interface WrittenBackup {
  header: BackupHeader;
  bytes: number;
}

/**
 * Writes a backup of the site as of one moment, while it runs: in one transaction that only reads and that nobody waits for.
 * The file appears when it is whole and on the disk, readable for its owner alone; it replaces one of its name.
 * `database` must give statements the time they need.
 * @throws CoreError `unavailable`, or the error of the file system.
 */
export async function writeBackup(
  database: Database,
  path: string,
  { groundswell, pictureFolder, onProgress, signal }: WriteBackupOptions,
): Promise<WrittenBackup> {
  const partial = partialPath(path);
  try {
    const header = await database.transaction(async (sql) => {
      await beginSnapshot(sql);
      const tables = await readTableShapes(sql, SITE_TABLES);
      const about = await describeSite(sql, tables, groundswell);
      // After the snapshot: a picture is in the store before any row names it.
      const pictures = pictureFolder === undefined ? [] : await listPictures(pictureFolder);
      about.tables.push({ name: PICTURES, columns: ['name', 'content'], rows: pictures.length });
      const sections: Section[] = tables.map((shape) => ({ name: shape.name, rows: readRows(sql, shape) }));
      sections.push({ name: PICTURES, rows: readPictures(pictureFolder ?? '', pictures) });
      // Exclusive, so that nothing that is there is written into, and never for the eyes of others.
      const file = await open(partial, 'wx', 0o600);
      await pipeline(
        Readable.from(backupLines(about, sections, onProgress), { objectMode: false }),
        createGzip(),
        // Of the file itself, not of its number: a stream that fails closes that, and by then it may be somebody else's.
        file.createWriteStream({ flush: true }),
        { signal },
      ).finally(() => file.close());
      return about;
    });
    const { size: bytes } = await stat(partial);
    await rename(partial, path);
    await syncFolder(dirname(path));
    return { header, bytes };
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  }
}

/** Where a backup is while it is not whole. One of a process that was killed stays, and is nobody's backup. */
function partialPath(path: string): string {
  return `${path}.${process.pid}.partial`;
}

async function beginSnapshot(sql: Sql): Promise<void> {
  await holdSnapshot(sql);
  await liftTimeLimits(sql);
}

async function describeSite(sql: Sql, present: readonly TableShape[], groundswell: string): Promise<BackupHeader> {
  const [about] = await sql.query<{ created_at: string; postgresql: string }>(
    "SELECT to_json(now()) #>> '{}' AS created_at, current_setting('server_version') AS postgresql",
  );
  const migrations = await sql.query<{ name: string }>('SELECT name FROM schema_migrations ORDER BY version');
  const tables: BackedUpTable[] = [];
  for (const { name, columns } of present) {
    const [count] = await sql.query<{ rows: string }>(`SELECT count(*) AS rows FROM ${name}`);
    tables.push({ name, columns: [...columns], rows: Number(count?.rows) });
  }
  return {
    backup: 'groundswell',
    version: BACKUP_VERSION,
    createdAt: new Date(about?.created_at ?? Number.NaN).toISOString(),
    groundswell,
    postgresql: about?.postgresql ?? '',
    migrations: migrations.map(({ name }) => name),
    tables,
  };
}

/** A table, or the pictures: its rows as they are read. */
interface Section {
  name: string;
  rows: AsyncIterable<string[]>;
}

async function* readPictures(folder: string, names: readonly string[]): AsyncGenerator<string[]> {
  for (const name of names) yield [await pictureLine(folder, name)];
}

/** The whole of a backup, uncompressed. */
async function* backupLines(
  header: BackupHeader,
  sections: readonly Section[],
  onProgress: WriteBackupOptions['onProgress'],
): AsyncGenerator<Buffer> {
  const first = markLine(header);
  yield first;
  const allRows = header.tables.reduce((sum, { rows }) => sum + rows, 0);
  let written = 0;
  for (const { name, rows } of sections) {
    yield markLine({ begin: name });
    const hash = createHash('sha256');
    for await (const batch of rows) {
      const lines = Buffer.from(`${batch.join('\n')}\n`);
      hash.update(lines);
      yield lines;
      written += batch.length;
      onProgress?.(written, allRows);
    }
    yield markLine({ done: name, sha256: hash.digest('hex') });
  }
  yield markLine({ end: true, sha256: createHash('sha256').update(first).digest('hex') });
}
