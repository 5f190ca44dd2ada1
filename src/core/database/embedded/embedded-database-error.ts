export type EmbeddedDatabaseErrorCode =
  | 'data_dir_held'
  | 'data_dir_unwritable'
  | 'data_dir_unreachable'
  | 'data_dir_refused'
  | 'platform_unsupported'
  | 'version_mismatch'
  | 'start_failed';

/**
 * Reports why the embedded database cannot be used. The message is one line for the operator: what is wrong and what to
 * do.
 */
export class EmbeddedDatabaseError extends Error {
  readonly code: EmbeddedDatabaseErrorCode;

  constructor(code: EmbeddedDatabaseErrorCode, message: string, options?: ErrorOptions) {
    super(message.replace(/\s*\n\s*/g, ' '), options);
    this.name = 'EmbeddedDatabaseError';
    this.code = code;
  }
}
