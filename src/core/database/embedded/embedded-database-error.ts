type EmbeddedDatabaseErrorCode =
  | 'data_dir_in_use'
  | 'data_dir_unwritable'
  | 'data_dir_unreachable'
  | 'data_dir_refused'
  | 'no_database'
  | 'platform_unsupported'
  | 'version_mismatch'
  | 'start_failed';

/** Advice if the embedded database cannot run on this machine. */
export const OWN_SERVER = 'Set DATABASE_URL to a PostgreSQL server of your own (14 or newer).';

/**
 * Thrown if the embedded database cannot be used. The message is one line for the operator: what is wrong and what to
 * do.
 */
export class EmbeddedDatabaseError extends Error {
  override readonly name = 'EmbeddedDatabaseError';
  readonly code: EmbeddedDatabaseErrorCode;

  constructor(code: EmbeddedDatabaseErrorCode, message: string, options?: ErrorOptions) {
    super(message.replace(/\s*\n\s*/g, ' '), options);
    this.code = code;
  }
}

/** Returns the error of a data folder without a database, if no database may be created. */
export function noDatabase(dataDir: string): EmbeddedDatabaseError {
  return new EmbeddedDatabaseError(
    'no_database',
    `${dataDir} contains no database. Start the site to create one, or run the command with the settings of the site, ` +
      'such as DATA_DIR and DATABASE_URL.',
  );
}
