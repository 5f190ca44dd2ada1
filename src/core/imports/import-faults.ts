/** What is wrong with one field of one row, or, where `field` is null, with the row or the file at that line. */
export interface ImportFault {
  line: number;
  field: string | null;
  reason: string;
}

/** Faults that are named; the others are only counted. */
const NAMED_FAULTS = 20;

/** A file of which nothing was imported, since something in it is wrong. */
export class ImportRefusedError extends Error {
  override readonly name = 'ImportRefusedError';

  /** @param faults the first of them. @param count how many there are in all. */
  constructor(
    readonly faults: readonly ImportFault[],
    readonly count: number,
  ) {
    super(`${count} ${count === 1 ? 'fault' : 'faults'}, and nothing was imported`);
  }
}

/** A file that cannot be read any further. */
export class UnreadableFileError extends Error {
  override readonly name = 'UnreadableFileError';

  constructor(
    readonly line: number,
    reason: string,
  ) {
    super(reason);
  }
}

/** An import that was asked for in a way that does not fit the file. */
export class ImportUsageError extends Error {
  override readonly name = 'ImportUsageError';
}

/** Collects faults: the first by name, all by number, so that a file of nothing but faults takes no memory. */
export class FaultList {
  readonly #named: ImportFault[] = [];
  #count = 0;

  add(fault: ImportFault): void {
    this.#count += 1;
    if (this.#named.length < NAMED_FAULTS) this.#named.push(fault);
  }

  /** @throws ImportRefusedError where there is any. */
  refuseIfAny(): void {
    if (this.#count > 0) throw new ImportRefusedError(this.#named, this.#count);
  }
}
