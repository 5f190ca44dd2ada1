import { basename } from 'node:path';
import type { Database } from '../database/database.ts';
import { isSerializationFailure } from '../database/database-faults.ts';
import { LocalPictures } from '../pictures/local-pictures.ts';
import { type CheckedFile, checkFile, type FileKind, type RepeatedId } from './check-file.ts';
import type { PossibleDuplicate } from './duplicate-names.ts';
import type { ColumnMap } from './fields.ts';
import { type MergedProducts, mergeProducts } from './merge-products.ts';
import type { FieldChange, Sampled } from './product-changes.ts';
import { Spool } from './spool.ts';

export interface ImportOptions {
  path: string;
  kind: FileKind;
  map: ColumnMap;
  slugifyIds: boolean;
  dryRun: boolean;
  /** The operator's folder of pictures and the site's own; unset: local pictures are not copied. */
  pictures?: { from: string; to: string } | undefined;
  now: Date;
  onProgress?: ((stage: 'check' | 'write', done: number) => void) | undefined;
}

export interface ImportReport {
  created: Sampled<{ id: string; name: string; line: number }>;
  updated: Sampled<{ id: string; line: number; changes: FieldChange[] }>;
  unchanged: number;
  repeatedIds: RepeatedId[];
  duplicates: Sampled<PossibleDuplicate>;
  ignoredColumns: string[];
  /** Columns of counts, which are made of what visitors did and of nothing else. */
  ignoredCounts: string[];
  picturesCopied: number;
  localPictures: number;
  rows: number;
}

/** How often a transaction that met another crosswise is tried again. */
const MOST_TRIES = 3;

/**
 * Imports a file of products: all of it, in one transaction, or nothing. The whole file is checked first.
 * @throws ImportRefusedError where a row is wrong; ImportUsageError where the options do not fit the file; PictureError where
 * there is no folder of pictures; CoreError `unavailable`.
 */
export async function importProducts(database: Database, options: ImportOptions): Promise<ImportReport> {
  const { path, kind, map, slugifyIds, dryRun, now, onProgress } = options;
  const pictures = options.pictures && (await LocalPictures.open(options.pictures.from));
  const spool = await Spool.open();
  try {
    const onBytes = (count: number) => onProgress?.('check', count);
    const file = await checkFile(path, spool, { kind, map, slugifyIds, pictures, onBytes });
    // Before any row names them; should the rest fail, pictures that nobody names do no harm.
    if (pictures && options.pictures && !dryRun) await pictures.copyTo(options.pictures.to);
    const onRows = (count: number) => onProgress?.('write', count);
    const merged = await inTransaction(database, (sql) =>
      mergeProducts(sql, { spool, file }, { subject: basename(path), dryRun, now, onRows }),
    );
    await merged.names.compareWithSite(database);
    return reportOf(file, merged, dryRun ? 0 : (pictures?.count ?? 0));
  } finally {
    await spool.close();
  }
}

/** Two imports, or an import and a removal, may each wait for what the other has written. */
async function inTransaction<Result>(database: Database, work: Parameters<typeof database.transaction<Result>>[0]) {
  for (let tries = 1; ; tries += 1) {
    try {
      return await database.transaction(work);
    } catch (error) {
      if (tries === MOST_TRIES || !isSerializationFailure(error)) throw error;
    }
  }
}

function reportOf(file: CheckedFile, merged: MergedProducts, picturesCopied: number): ImportReport {
  const { created, updated, unchanged, names } = merged;
  const { rows, repeatedIds, ignoredColumns, ignoredCounts, localPictures } = file;
  return {
    ...{ created, updated, unchanged, duplicates: names.found },
    ...{ rows, repeatedIds, ignoredColumns, ignoredCounts, localPictures, picturesCopied },
  };
}
