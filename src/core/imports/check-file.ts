import { type LocalPictures, PictureError } from '../pictures/local-pictures.ts';
import { COUNT_COLUMNS, type ColumnMap, FileColumns } from './fields.ts';
import { FaultList, UnreadableFileError } from './import-faults.ts';
import { readCsv } from './read-csv.ts';
import { readJson } from './read-json.ts';
import { readJsonLines } from './read-json-lines.ts';
import { isLocalPicture, type ProductPatch, readProduct } from './read-product.ts';
import type { SourceRecord } from './source-record.ts';
import type { Spool } from './spool.ts';

export type FileKind = 'json' | 'json-lines' | 'csv';

export interface CheckOptions {
  kind: FileKind;
  map: ColumnMap;
  slugifyIds: boolean;
  /** Unset: local pictures are only counted. */
  pictures: LocalPictures | undefined;
  onBytes?: ((count: number) => void) | undefined;
}

/** A file in which every row is right by itself. */
export interface CheckedFile {
  rows: number;
  /** For every id that the file gives, the place of its last row, which is the one that counts. */
  lastPlaces: ReadonlyMap<string, number>;
  /** Ids that the file gives more than once, with the lines of the rows that do not count. */
  repeatedIds: RepeatedId[];
  ignoredColumns: string[];
  ignoredCounts: string[];
  /** Pictures that are neither on the web nor on this site, and were not copied, since no folder was named. */
  localPictures: number;
}

export interface RepeatedId {
  id: string;
  line: number;
}

/**
 * Reads a whole file, checks every row of it and puts the rows into the spool.
 * @throws ImportRefusedError with what is wrong; ImportUsageError where a column that was asked for is not there.
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
    checker.faults.add({ line: error.line, field: null, reason: error.message });
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
      columns.see(names);
      if (columns.rivals) {
        const [one, other] = columns.rivals;
        throw new UnreadableFileError(
          1,
          `The columns '${one}' and '${other}' are the same field. Say which with --map`,
        );
      }
      if (columns.hasAnyField) return;
      const named = names.map((name) => `'${name}'`).join(', ');
      throw new UnreadableFileError(1, `No column is a field of a product: ${named}. Say which is which with --map`);
    },
    onBytes,
  );
}

class FileChecker {
  readonly columns: FileColumns;
  readonly faults = new FaultList();
  readonly #options: CheckOptions;
  readonly #lasts = new Map<string, { place: number; line: number; rawId: string | undefined }>();
  readonly #repeatedIds: RepeatedId[] = [];
  #rows = 0;
  #localPictures = 0;

  constructor(options: CheckOptions) {
    this.#options = options;
    this.columns = new FileColumns(options.map);
  }

  async check(record: SourceRecord) {
    const { line } = record;
    if ('fault' in record) {
      this.faults.add({ line, field: null, reason: record.fault });
      return undefined;
    }
    if (this.#options.kind !== 'csv') this.columns.see(Object.keys(record.values));
    const patch = readProduct(record.values, {
      columns: this.columns,
      slugifyIds: this.#options.slugifyIds,
      onFault: (field, reason) => this.faults.add({ line, field, reason }),
    });
    await this.#takePictures(patch, line);
    const place = this.#rows;
    this.#rows += 1;
    this.#noteId(patch, place, line);
    return { place, line, patch };
  }

  #noteId({ id, rawId }: ProductPatch, place: number, line: number): void {
    if (id === undefined) return;
    const before = this.#lasts.get(id);
    if (before !== undefined) {
      if (before.rawId === rawId) this.#repeatedIds.push({ id, line: before.line });
      else {
        const [one, other] = [rawId ?? id, before.rawId ?? id];
        this.faults.add({
          line,
          field: 'id',
          reason: `'${one}' becomes ${id}, and so does '${other}' in line ${before.line}`,
        });
      }
    }
    this.#lasts.set(id, { place, line, rawId });
  }

  async #takePictures(patch: ProductPatch, line: number): Promise<void> {
    const take = async (field: string, address: string): Promise<string> => {
      if (!isLocalPicture(address)) return address;
      if (this.#options.pictures === undefined) {
        this.#localPictures += 1;
        return address;
      }
      try {
        return await this.#options.pictures.take(address);
      } catch (error) {
        if (!(error instanceof PictureError)) throw error;
        this.faults.add({ line, field, reason: error.message });
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
    this.faults.refuseIfAny();
    if (this.#rows > 0 || this.#options.kind === 'csv') this.columns.refuseMissing();
    const ignored = this.columns.ignored;
    return {
      rows: this.#rows,
      lastPlaces: new Map([...this.#lasts].map(([id, { place }]) => [id, place])),
      repeatedIds: this.#repeatedIds,
      ignoredColumns: ignored.filter((column) => !COUNT_COLUMNS.includes(column)),
      ignoredCounts: ignored.filter((column) => COUNT_COLUMNS.includes(column)),
      localPictures: this.#localPictures,
    };
  }
}
