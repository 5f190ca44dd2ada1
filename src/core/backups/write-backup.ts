import { createHash } from 'node:crypto';
import { open, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import type { Database, Sql } from '../database/database.ts';
import { disableTimeouts, holdSnapshot } from '../database/transactions.ts';
import { syncFolder } from '../file-system.ts';
import {
  BACKUP_VERSION,
  type BackedUpTable,
  type BackupHeader,
  listPictures,
  markLine,
  PICTURES,
  pictureLine,
} from './backup-file.ts';
import { readRows, readTableShapes, SITE_TABLES, type TableShape } from './site-tables.ts';

export interface WriteBackupOptions {
  /** The version of the program. */
  groundswell: string;
  /** The folder of the site's own pictures. Without it, the backup has none. */
  pictureFolder?: string | undefined;
  /** Called from time to time with the number of rows written. */
  onProgress?: ((rows: number, allRows: number) => void) | undefined;
  /** Aborts the work, which then leaves no file. */
  signal?: AbortSignal | undefined;
}

export interface WrittenBackup {
  header: BackupHeader;
  bytes: number;
}

/**
 * Writes a backup of the running site as of one moment, in one read-only transaction that blocks no one. The file
 * appears when it is complete and on disk, readable by its owner only; it replaces an existing file. `database` must
 * not limit the time of statements.
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
      // After the snapshot, because pictures are stored before rows name them.
      const pictures = pictureFolder === undefined ? [] : await listPictures(pictureFolder);
      about.tables.push({ name: PICTURES, columns: ['name', 'content'], rows: pictures.length });
      const sections: Section[] = tables.map((shape) => ({ name: shape.name, rows: readRows(sql, shape) }));
      sections.push({ name: PICTURES, rows: readPictures(pictureFolder ?? '', pictures) });
      // Exclusive, so no existing file is overwritten, and readable by its owner only.
      const file = await open(partial, 'wx', 0o600);
      await pipeline(
        Readable.from(backupLines(about, sections, onProgress), { objectMode: false }),
        createGzip(),
        // By path, not by descriptor: a failed stream closes its descriptor, and the number may be reused.
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

/** The temporary file. A killed process leaves it behind. */
function partialPath(path: string): string {
  return `${path}.${process.pid}.partial`;
}

async function beginSnapshot(sql: Sql): Promise<void> {
  await holdSnapshot(sql);
  await disableTimeouts(sql);
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

/** A table, or the pictures: rows as they are read. */
interface Section {
  name: string;
  rows: AsyncIterable<string[]>;
}

async function* readPictures(folder: string, names: readonly string[]): AsyncGenerator<string[]> {
  for (const name of names) yield [await pictureLine(folder, name)];
}

/** The whole backup, uncompressed. */
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
