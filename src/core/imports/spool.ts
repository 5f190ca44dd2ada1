import { type FileHandle, mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readLines } from './read-json.ts';
import type { ProductPatch } from './read-product.ts';
import type { Position } from './source-record.ts';

/** A valid row of the file. */
export interface CheckedRow extends Position {
  /** The zero-based index of the row in the file. */
  rowIndex: number;
  patch: ProductPatch;
}

const CHUNK_CHARACTERS = 256 * 1024;

/**
 * Stores validated rows in a temporary file, because they may not fit into memory and are written to the database only
 * after the last row has been validated. The open file is unlinked, so a killed command leaves no file behind.
 */
export class Spool {
  readonly #file: FileHandle;
  #pending = '';

  private constructor(file: FileHandle) {
    this.#file = file;
  }

  static async open(): Promise<Spool> {
    const folder = await mkdtemp(join(tmpdir(), 'groundswell-import-'));
    try {
      return new Spool(await open(join(folder, 'rows.jsonl'), 'wx+', 0o600));
    } finally {
      await rm(folder, { recursive: true });
    }
  }

  async add(row: CheckedRow): Promise<void> {
    this.#pending += `${JSON.stringify(row)}\n`;
    if (this.#pending.length > CHUNK_CHARACTERS) await this.finish();
  }

  /** Writes the buffered rows to the file. */
  async finish(): Promise<void> {
    const chunk = this.#pending;
    this.#pending = '';
    await this.#file.writeFile(chunk);
  }

  /** Reads the wanted rows in order, in batches. Can be called repeatedly. */
  async *batches(rows: number, isWanted: (row: CheckedRow) => boolean): AsyncGenerator<CheckedRow[]> {
    let batch: CheckedRow[] = [];
    for await (const line of readLines(this.#file)) {
      const row: CheckedRow = JSON.parse(line);
      if (!isWanted(row)) continue;
      batch.push(row);
      if (batch.length < rows) continue;
      yield batch;
      batch = [];
    }
    if (batch.length > 0) yield batch;
  }

  close(): Promise<void> {
    return this.#file.close();
  }
}
