import { type FileHandle, mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readLines } from './read-json-lines.ts';
import type { ProductPatch } from './read-product.ts';

/** A row of the file that is right by itself. */
export interface CheckedRow {
  /** Its place among the rows of the file, from 0. */
  place: number;
  line: number;
  patch: ProductPatch;
}

const CHUNK_CHARACTERS = 256 * 1024;

/**
 * Checked rows on their way from the file to the database, in a temporary file: nothing may be written before the last row
 * was checked, and that many rows do not fit into memory. The file has no name, so that none is left by a killed command.
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

  /** Writes what was added and is still held back. */
  async finish(): Promise<void> {
    const chunk = this.#pending;
    this.#pending = '';
    await this.#file.writeFile(chunk);
  }

  /** What was added, in order; as often as it is asked for. */
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
