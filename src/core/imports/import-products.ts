import { basename } from 'node:path';
import type { Database } from '../database/database.ts';
import { insertWithRetries } from '../database/transactions.ts';
import { LocalPictures } from '../pictures/local-pictures.ts';
import { updateSizes } from '../products/save-products.ts';
import type { Log } from '../runtime.ts';
import { type CheckedFile, checkFile, type FileKind } from './check-file.ts';
import type { ColumnMap } from './columns.ts';
import type { Sampled } from './import-errors.ts';
import { type MergedProducts, mergeProducts, type PossibleDuplicate } from './merge-products.ts';
import { Spool } from './spool.ts';

export interface ImportOptions {
  path: string;
  /** The file's name in the audit log. */
  name?: string | undefined;
  kind: FileKind;
  map: ColumnMap;
  slugifyIds: boolean;
  /** The separator of list items, such as tags, within a string. */
  separator: string;
  dryRun: boolean;
  /** `from` is the operator's picture folder, `to` the site's store. If unset, local pictures are not copied. */
  pictures?: { from: string; to: string } | undefined;
  now: () => Date;
  /** The value of SITE_TIME_ZONE. */
  timeZone: string;
  log: Pick<Log, 'warn'>;
  /** `done` is the number of bytes checked or rows processed so far. A retry of the transaction starts again at 0. */
  onProgress?: ((stage: 'check' | 'write', done: number) => void) | undefined;
}

export interface ImportReport extends Omit<MergedProducts, 'duplicateNames'>, Omit<CheckedFile, 'lastRowIndexes'> {
  duplicates: Sampled<PossibleDuplicate>;
  picturesCopied: number;
}

/**
 * Validates a whole file of products, then imports it in one transaction.
 * @throws ImportRefusedError if the file has errors; ImportUsageError if options do not fit the file; PictureError if
 * the picture folder does not exist or a picture changes during the import; CoreError `unavailable`.
 */
export async function importProducts(database: Database, options: ImportOptions): Promise<ImportReport> {
  const { path, name = basename(path), dryRun, log, onProgress } = options;
  const pictures = options.pictures && (await LocalPictures.open(options.pictures.from));
  const spool = await Spool.open();
  try {
    const onBytes = progressOf('check', onProgress);
    const file = await checkFile(path, spool, { ...options, pictures, onBytes });
    // Copies pictures before any row references them. If the import fails, the unused pictures are harmless.
    if (pictures && options.pictures && !dryRun) await pictures.copyTo(options.pictures.to);
    const merged = await insertWithRetries(database, (sql) =>
      mergeProducts(sql, { spool, file }, { ...options, target: name, onRows: progressOf('write', onProgress) }),
    );
    const written = dryRun ? 0 : merged.created.count + merged.updated.count;
    await updateSizes(database, written);
    if (written > 0) await flushSearchIndexes(database, log);
    await merged.duplicateNames.compareWithSite(database).catch((error: unknown) => {
      // The import has committed, so a failure must not look as if nothing had been imported. Only the
      // names that exist on the site are missing from the report.
      if (dryRun) throw error;
      log.warn(
        { err: error },
        'Cannot compare the imported names with those of the site; the report does not list names that exist there',
      );
    });
    const { duplicateNames, ...changes } = merged;
    const { lastRowIndexes: _indexes, ...checked } = file;
    const picturesCopied = dryRun ? 0 : (pictures?.count ?? 0);
    return { ...changes, ...checked, duplicates: duplicateNames.found, picturesCopied };
  } finally {
    await spool.close();
  }
}

/** Returns a function that adds to the progress of a stage, and reports the sum. */
function progressOf(stage: 'check' | 'write', report: ImportOptions['onProgress']): (count: number) => void {
  let done = 0;
  return (count) => {
    done += count;
    report?.(stage, done);
  };
}

/** Selects the existing search indexes, if the server has `gin_clean_pending_list` and the role may call it on them. */
const SELECT_FLUSHABLE = `SELECT indexrelid::regclass::text AS name
  FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid JOIN pg_proc ON proname = 'gin_clean_pending_list'
  WHERE indrelid = to_regclass('products') AND relname IN ('products_search', 'products_grams')
    AND pg_has_role(relowner, 'USAGE')`;

/**
 * Moves the pending entries of the search indexes into their main structure, without blocking other sessions. Searches
 * read all pending entries, so searches for rare words would take three times as long until a later write makes
 * PostgreSQL move the entries.
 */
async function flushSearchIndexes(database: Database, log: Pick<Log, 'warn'>): Promise<void> {
  try {
    const flushable = await database.query<{ name: string }>(SELECT_FLUSHABLE);
    for (const { name } of flushable) await database.query('SELECT gin_clean_pending_list($1::text::regclass)', [name]);
  } catch (error) {
    // The error is only logged, because the products have been written, and later writes or autovacuum move the
    // entries.
    log.warn(
      { err: error },
      'Cannot move the pending entries of the search indexes; searches are slower until autovacuum moves them',
    );
  }
}
