import { once } from 'node:events';
import { createWriteStream, type WriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
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
 * Checked rows on their way from the file to the database, in a private temporary file: nothing may be written before the
 * last row was checked, and that many rows do not fit into memory.
 */
export class Spool {
  readonly #folder: string;
  readonly #path: string;
  readonly #file: WriteStream;
  #pending = '';

  private constructor(folder: string) {
    this.#folder = folder;
    this.#path = join(folder, 'rows.jsonl');
    this.#file = createWriteStream(this.#path, { mode: 0o600 });
  }

  static async open(): Promise<Spool> {
    const spool = new Spool(await mkdtemp(join(tmpdir(), 'groundswell-import-')));
    await once(spool.#file, 'open');
    return spool;
  }

  async add(row: CheckedRow): Promise<void> {
    this.#pending += `${JSON.stringify(row)}\n`;
    if (this.#pending.length > CHUNK_CHARACTERS) await this.#flush();
  }

  async #flush(): Promise<void> {
    const flushed = this.#file.write(this.#pending);
    this.#pending = '';
    if (!flushed) await once(this.#file, 'drain');
  }

  async finish(): Promise<void> {
    await this.#flush();
    this.#file.end();
    await once(this.#file, 'close');
  }

  /** What was added, in order; as often as it is asked for. */
  async *batches(rows: number, isWanted: (row: CheckedRow) => boolean): AsyncGenerator<CheckedRow[]> {
    let batch: CheckedRow[] = [];
    for await (const line of readLines(this.#path)) {
      const row: CheckedRow = JSON.parse(line);
      if (!isWanted(row)) continue;
      batch.push(row);
      if (batch.length < rows) continue;
      yield batch;
      batch = [];
    }
    if (batch.length > 0) yield batch;
  }

  async remove(): Promise<void> {
    this.#file.destroy();
    await rm(this.#folder, { recursive: true, force: true });
  }
}
