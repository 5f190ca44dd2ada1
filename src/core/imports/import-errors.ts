import type { ImportErrorRecord } from '../../contract/console/records.ts';
import { formatQuantity } from '../../contract/text.ts';

/** The maximum number of listed errors. Further errors are only counted. */
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

/** Collects the first errors and only counts the others, which bounds memory use. */
export class ErrorList {
  readonly #named: ImportErrorRecord[] = [];
  #count = 0;

  add(error: ImportErrorRecord): void {
    this.#count += 1;
    if (this.#named.length < MAX_LISTED_ERRORS) this.#named.push(error);
  }

  /** @throws ImportRefusedError if there are any errors. */
  refuseIfAny(): void {
    if (this.#count > 0) throw new ImportRefusedError(this.#named, this.#count);
  }
}
