import { type LocalPictures, PictureError } from '../pictures/local-pictures.ts';
import { COUNT_COLUMNS, type ColumnMap, FileColumns } from './columns.ts';
import { ErrorList, UnreadableFileError } from './import-errors.ts';
import { readCsv } from './read-csv.ts';
import { readJson, readJsonLines } from './read-json.ts';
import { isLocalPicture, type ProductPatch, readProduct } from './read-product.ts';
import { describePosition, type Position, type SourceRecord } from './source-record.ts';
import type { Spool } from './spool.ts';

export type FileKind = 'json' | 'json-lines' | 'csv';

interface CheckOptions {
  kind: FileKind;
  map: ColumnMap;
  slugifyIds: boolean;
  /** The separator of list items within a string. */
  separator: string;
  /** If unset, local pictures are only counted. */
  pictures: LocalPictures | undefined;
  onBytes?: ((count: number) => void) | undefined;
}

/** The result of checking a file in which every row is valid. */
export interface CheckedFile {
  /** The index of the last row with each id. Only this row is imported. */
  lastRowIndexes: ReadonlyMap<string, number>;
  /** Rows that are ignored because a later row has the same id. */
  repeatedIds: RepeatedId[];
  ignoredColumns: string[];
  /** The columns of counts, which are ignored, because only visitors' actions change counts. */
  ignoredCounts: string[];
  /** The number of references to local pictures, which are not imported, because no picture folder was given. */
  localPictures: number;
}

interface RepeatedId extends Position {
  id: string;
}

/**
 * Reads a whole file, validates every row and adds it to the spool.
 * @throws ImportRefusedError with the errors in the file; ImportUsageError if the file lacks a column of --map.
 */
export async function checkFile(path: string, spool: Spool, options: CheckOptions): Promise<CheckedFile> {
  const checker = new FileChecker(options);
  try {
    for await (const record of readRecords(path, options, checker.columns)) {
      const row = await checker.check(record);
      if (row !== undefined) await spool.add(row);
    }
  } catch (error) {
    if (!(error instanceof UnreadableFileError)) throw error;
    checker.errors.add({ line: error.line, item: error.item, field: null, reason: error.message });
    checker.isCutOff = true;
  }
  await spool.finish();
  return checker.finish();
}

function readRecords(
  path: string,
  { kind, onBytes }: CheckOptions,
  columns: FileColumns,
): AsyncGenerator<SourceRecord> {
  if (kind === 'json') return readJson(path, onBytes);
  if (kind === 'json-lines') return readJsonLines(path, onBytes);
  return readCsv(
    path,
    (names) => {
      columns.addColumns(names);
      columns.requireMappedColumns();
      if (columns.conflict) {
        const [one, other] = columns.conflict;
        throw new UnreadableFileError(
          1,
          `The columns '${one}' and '${other}' map to the same field. Choose one with --map`,
        );
      }
      if (!columns.includesField(names)) throw new UnreadableFileError(1, noFieldReason(names));
    },
    onBytes,
  );
}

function noFieldReason(columns: readonly string[]): string {
  const named = columns.map((name) => `'${name}'`).join(', ');
  return `No column is a field of a product: ${named}. Assign columns to fields with --map`;
}

class FileChecker {
  readonly columns: FileColumns;
  readonly errors = new ErrorList();
  readonly #options: CheckOptions;
  readonly #lastById = new Map<string, Position & { rowIndex: number; rawId: string | undefined }>();
  readonly #repeatedIds: RepeatedId[] = [];
  #rows = 0;
  #localPictures = 0;
  /** Whether reading stopped before the end of the file, so `columns` may lack columns of later rows. */
  isCutOff = false;

  constructor(options: CheckOptions) {
    this.#options = options;
    this.columns = new FileColumns(options.map);
  }

  async check(record: SourceRecord) {
    const position: Position = { line: record.line, item: record.item };
    if ('error' in record) {
      this.errors.add({ ...position, field: null, reason: record.error });
      return undefined;
    }
    if (this.#options.kind !== 'csv') {
      const names = Object.keys(record.values);
      this.columns.addColumns(names);
      if (names.length > 0 && !this.columns.includesField(names)) {
        this.errors.add({ ...position, field: null, reason: noFieldReason(names) });
        return undefined;
      }
    }
    const patch = readProduct(record.values, {
      columns: this.columns,
      slugifyIds: this.#options.slugifyIds,
      separator: this.#options.separator,
      onError: (field, reason) => this.errors.add({ ...position, field, reason }),
    });
    await this.#collectPictures(patch, position);
    const rowIndex = this.#rows;
    this.#rows += 1;
    this.#noteId(patch, rowIndex, position);
    return { rowIndex, ...position, patch };
  }

  #noteId({ id, rawId }: ProductPatch, rowIndex: number, position: Position): void {
    if (id === undefined) return;
    const before = this.#lastById.get(id);
    if (before !== undefined) {
      if (before.rawId === rawId) this.#repeatedIds.push({ id, line: before.line, item: before.item });
      else {
        const [one, other] = [rawId ?? id, before.rawId ?? id];
        this.errors.add({
          ...position,
          field: 'id',
          reason: `'${one}' becomes ${id}, and so does '${other}' in ${describePosition(before)}: give one of the rows another id`,
        });
      }
    }
    this.#lastById.set(id, { rowIndex, ...position, rawId });
  }

  async #collectPictures(patch: ProductPatch, position: Position): Promise<void> {
    const take = async (field: string, address: string): Promise<string> => {
      if (!isLocalPicture(address)) return address;
      patch.hasLocalPictures = true;
      if (this.#options.pictures === undefined) {
        this.#localPictures += 1;
        return address;
      }
      try {
        return await this.#options.pictures.add(address);
      } catch (error) {
        if (!(error instanceof PictureError)) throw error;
        this.errors.add({ ...position, field, reason: error.message });
        return address;
      }
    };
    if (patch.image) patch.image = await take('image', patch.image);
    for (const [index, address] of (patch.screenshots ?? []).entries()) {
      if (patch.screenshots) patch.screenshots[index] = await take('screenshots', address);
    }
    for (const member of patch.team ?? []) member.avatar = await take('team', member.avatar);
  }

  finish(): CheckedFile {
    // A missing column that --map names causes further errors, so only the missing column is reported.
    if (!this.isCutOff && (this.columns.hasColumns || this.#options.kind === 'csv'))
      this.columns.requireMappedColumns();
    this.errors.refuseIfAny();
    const ignored = this.columns.ignored;
    return {
      lastRowIndexes: new Map([...this.#lastById].map(([id, { rowIndex }]) => [id, rowIndex])),
      repeatedIds: this.#repeatedIds,
      ignoredColumns: ignored.filter((column) => !COUNT_COLUMNS.includes(column)),
      ignoredCounts: ignored.filter((column) => COUNT_COLUMNS.includes(column)),
      localPictures: this.#localPictures,
    };
  }
}
