import type { ImportErrorRecord } from '../../contract/console/records.ts';
import { formatQuantity } from '../../contract/text.ts';

/** The maximum numbers of listed items and errors. Further ones are only counted. */
export const MAX_LISTED = 100;
const MAX_LISTED_ERRORS = 200;

/** Thrown if a file contains errors. Nothing was imported. */
export class ImportRefusedError extends Error {
  override readonly name = 'ImportRefusedError';

  /** @param errors the first errors. @param count the number of all errors. */
  constructor(
    readonly errors: readonly ImportErrorRecord[],
    readonly count: number,
  ) {
    super(`${formatQuantity(count, 'error')}, and nothing was imported`);
  }
}

/** Thrown if an error in a line prevents reading the rest of a file. */
export class UnreadableFileError extends Error {
  override readonly name = 'UnreadableFileError';

  constructor(
    readonly line: number,
    reason: string,
    readonly item?: number,
  ) {
    super(reason);
  }
}

/** Thrown if options are invalid or do not fit the file. */
export class ImportUsageError extends Error {
  override readonly name = 'ImportUsageError';
}

/** Counts all items, and stores only the first ones, which bounds memory use. */
export class Sampled<Item> {
  readonly first: Item[] = [];
  count = 0;
  readonly #max: number;

  constructor(max = MAX_LISTED) {
    this.#max = max;
  }

  add(item: Item): void {
    this.count += 1;
    if (this.first.length < this.#max) this.first.push(item);
  }
}

export class ErrorList extends Sampled<ImportErrorRecord> {
  constructor() {
    super(MAX_LISTED_ERRORS);
  }

  /** Refuses the file if there are any errors. @throws ImportRefusedError. */
  refuseIfAny(): void {
    if (this.count > 0) throw new ImportRefusedError(this.first, this.count);
  }
}
