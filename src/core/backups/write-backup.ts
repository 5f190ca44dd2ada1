import { createHash, randomUUID } from 'node:crypto';
import { readdir, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import type { Database, Sql } from '../database/database.ts';
import { readSnapshot } from '../database/transactions.ts';
import { writeThenRename } from '../file-system.ts';
import { listPictures } from '../pictures/picture-store.ts';
import {
  BACKUP_VERSION,
  type BackedUpTable,
  type BackupHeader,
  markerLine,
  type OnDamagedPicture,
  PICTURES,
  pictureLine,
} from './backup-file.ts';
import { rowsOf } from './read-backup.ts';
import { readRows, readTableShapes, SITE_TABLES, type TableShape } from './site-tables.ts';

interface SendBackupOptions {
  /** The version of the program. */
  groundswell: string;
  /** The folder of the site's own pictures. If unset, the backup contains no pictures. */
  pictureFolder?: string | undefined;
  onDamagedPicture?: OnDamagedPicture | undefined;
  /** Called regularly with the number of rows written so far. */
  onProgress?: ((rows: number, allRows: number) => void) | undefined;
  /** Aborts the backup, which then leaves no file. */
  signal?: AbortSignal | undefined;
}

interface WriteBackupOptions extends SendBackupOptions {
  /** Whether to replace an existing file (default), or to fail with EEXIST. */
  replace?: boolean | undefined;
  /** Called regularly with the number of bytes written so far. If it rejects, the backup is aborted. */
  checkSpace?: (writtenBytes: number) => Promise<void>;
}

/** The number of bytes after which `writeBackup` calls `checkSpace` again. */
const CHECKED_BYTES = 2 ** 20;

interface WrittenBackup {
  header: BackupHeader;
  bytes: number;
}

/**
 * Writes a backup of a snapshot of the running site, in one read-only transaction that does not block other
 * transactions. The transaction ends before the pictures are read, because an open snapshot holds back VACUUM. The
 * file, which only its owner can read, appears when it is complete and synced to disk. `database` must have no
 * statement timeout.
 * @throws CoreError `unavailable`, a file system error, or the error of `checkSpace`.
 */
export async function writeBackup(
  database: Database,
  path: string,
  { replace, checkSpace, ...options }: WriteBackupOptions,
): Promise<WrittenBackup> {
  return writeThenRename(path, { aside: partialPath(path), mode: 0o600, replace }, async (file) => {
    // `file.createWriteStream` is not used: it would close the file before the sync, or, with `autoClose: false`,
    // `file.close()` would never resolve.
    const output = new Writable({
      write: (part: Buffer, _encoding, done) => void write(part).then(() => done(), done),
    });
    let writtenBytes = 0;
    let checkedBytes = 0;
    async function write(part: Buffer): Promise<void> {
      await file.writeFile(part);
      writtenBytes += part.length;
      if (writtenBytes - checkedBytes < CHECKED_BYTES) return;
      checkedBytes = writtenBytes;
      await checkSpace?.(writtenBytes);
    }
    const header = await sendBackup(database, output, options);
    const { size: bytes } = await file.stat();
    return { header, bytes };
  });
}

/**
 * Writes the same content as `writeBackup` to a stream, and then ends the stream unless `end` is false. If the stream
 * closes early, the backup is aborted.
 * @throws CoreError `unavailable`, a stream error, or an Error if the database's role may not read all rows.
 */
export async function sendBackup(
  database: Database,
  output: Writable,
  {
    groundswell,
    pictureFolder,
    onDamagedPicture,
    onProgress,
    signal,
    end = true,
  }: SendBackupOptions & { end?: boolean },
): Promise<BackupHeader> {
  const { about, sending } = await readSnapshot(database, async (sql) => {
    const tables = await readTableShapes(sql, SITE_TABLES);
    const about = await describeSite(sql, tables, groundswell);
    // Lists pictures after the snapshot has begun. Pictures are stored before rows reference them, so none is missing.
    const pictures = pictureFolder === undefined ? [] : await listPictures(pictureFolder);
    about.tables.push({ name: PICTURES, columns: ['name', 'content'], rows: pictures.length });
    const sections: Section[] = tables.map((shape) => ({ name: shape.name, rows: readRows(sql, shape) }));
    const allRowsRead = new Promise<void>((resolve) => {
      const lines = readPictures(pictureFolder ?? '', pictures, { onBegin: resolve, onDamaged: onDamagedPicture });
      sections.push({ name: PICTURES, rows: lines });
    });
    const lines = Readable.from(backupLines(about, sections, onProgress), { objectMode: false });
    const sending = pipeline(lines, createGzip(), output, { signal, end });
    await Promise.race([sending, allRowsRead]);
    // Prevents an unhandled rejection. If the transaction fails, nothing awaits `sending`, which then fails as well
    // when the caller closes the output.
    sending.catch(() => {});
    return { about, sending };
  });
  await sending;
  return about;
}

/**
 * Returns a unique path for a temporary file next to `path`. A process id would not make it unique, because processes
 * in two containers can have the same id.
 */
export function partialPath(path: string): string {
  return `${path}.${randomUUID()}.partial`;
}

/** A process writes to its temporary file more often than this, unless it was killed or suspended. */
const MAX_IDLE_MS = 60 * 60_000;

/** Deletes the temporary files for `path` that killed processes have left. */
export async function deletePartialFiles(path: string): Promise<void> {
  const [folder, prefix] = [dirname(path), `${basename(path)}.`];
  for (const name of await readdir(folder)) {
    if (!name.startsWith(prefix) || !/^[0-9a-f-]{36}\.partial$/.test(name.slice(prefix.length))) continue;
    const file = join(folder, name);
    if (Date.now() - (await stat(file)).mtimeMs > MAX_IDLE_MS) await rm(file, { force: true });
  }
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

/** A part of the backup: a table or the pictures, with the rows in batches. */
interface Section {
  name: string;
  rows: AsyncIterable<string[]>;
}

async function* readPictures(
  folder: string,
  names: readonly string[],
  { onBegin, onDamaged }: { onBegin: () => void; onDamaged: OnDamagedPicture | undefined },
): AsyncGenerator<string[]> {
  onBegin();
  for (const name of names) yield [await pictureLine(folder, name, onDamaged)];
}

async function* backupLines(
  header: BackupHeader,
  sections: readonly Section[],
  onProgress: WriteBackupOptions['onProgress'],
): AsyncGenerator<Buffer> {
  const first = markerLine(header);
  yield first;
  const allRows = rowsOf(header);
  let written = 0;
  for (const { name, rows } of sections) {
    yield markerLine({ begin: name });
    const hash = createHash('sha256');
    for await (const batch of rows) {
      const lines = Buffer.from(`${batch.join('\n')}\n`);
      hash.update(lines);
      yield lines;
      written += batch.length;
      onProgress?.(written, allRows);
    }
    yield markerLine({ done: name, sha256: hash.digest('hex') });
  }
  yield markerLine({ end: true, sha256: createHash('sha256').update(first).digest('hex') });
}
