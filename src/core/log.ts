/** What `core` needs of a logger; a pino logger is one. Fields first, then the sentence, or the sentence alone. */
export interface Log {
  info(fields: object | string, message?: string): void;
  warn(fields: object | string, message?: string): void;
  error(fields: object | string, message?: string): void;
}
