type EmbeddedDatabaseErrorCode =
  | 'data_dir_in_use'
  | 'data_dir_unwritable'
  | 'data_dir_unreachable'
  | 'data_dir_refused'
  | 'no_database'
  | 'platform_unsupported'
  | 'version_mismatch'
  | 'start_failed';

/** What the caller supplies for messages to the operator: names of settings, and instructions. */
export interface OperatorTerms {
  readonly product: string;
  /** The name of the setting for the data folder. */
  readonly dataDir: string;
  /** Instructions for using another PostgreSQL server instead, in full sentences. */
  readonly ownServer: string;
  /** Instructions for a data folder without a database, in full sentences. */
  readonly missing: string;
  /** Instructions for moving the data to another major version of PostgreSQL, in full sentences. */
  readonly upgrade: string;
}

const DEFAULT_TERMS: OperatorTerms = {
  product: 'this program',
  dataDir: 'dataDir',
  ownServer: 'Use a PostgreSQL server of your own.',
  missing: 'Set dataDir to the folder of an existing one.',
  upgrade: 'Dump the database with the previous version, and load the dump with this one.',
};

type Message = string | ((terms: OperatorTerms) => string);

/**
 * Thrown if the embedded database cannot be used. The message is one line for the operator: what is wrong and what to
 * do.
 */
export class EmbeddedDatabaseError extends Error {
  override readonly name = 'EmbeddedDatabaseError';
  readonly code: EmbeddedDatabaseErrorCode;
  readonly #message: Message;

  constructor(code: EmbeddedDatabaseErrorCode, message: Message, options?: ErrorOptions) {
    const text = typeof message === 'string' ? message : message(DEFAULT_TERMS);
    super(text.replace(/\s*\n\s*/g, ' '), options);
    this.code = code;
    this.#message = message;
  }

  /** Returns this error with a message that uses the caller's terms. */
  inTermsOf(terms: OperatorTerms): EmbeddedDatabaseError {
    const message = this.#message;
    return typeof message === 'string'
      ? this
      : new EmbeddedDatabaseError(this.code, message(terms), { cause: this.cause });
  }
}

/** Creates the error for a data folder without a database, if none may be created. */
export function noDatabase(dataDir: string): EmbeddedDatabaseError {
  return new EmbeddedDatabaseError('no_database', ({ missing }) => `${dataDir} contains no database. ${missing}`);
}
