import pg from 'pg';

/** The driver's own words for a connection that could not be had, was lost, or did not answer in time. */
const CONNECTION_MESSAGE =
  /connection terminated|timeout exceeded when trying to connect|query read timeout|client has encountered a connection error/i;

/** Socket faults of Node that mean that the server is not there. */
const SOCKET_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOENT',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
]);

/**
 * SQLSTATE classes and codes (PostgreSQL documentation, appendix A) that pass by themselves, or that refuse the
 * connection whatever was asked: a role or database that is gone is not the fault of a statement.
 */
const UNAVAILABLE_STATE = /^(?:08...|28...|3D000|53...|57P0[1-5]|57014)$/;

/** Whether an error says that the database is away, rather than that a statement was wrong. */
export function isUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof pg.DatabaseError) return UNAVAILABLE_STATE.test(error.code ?? '');
  const code = 'code' in error ? String(error.code) : '';
  // Node reports several failed addresses of one host name as an AggregateError without a message.
  return SOCKET_CODES.has(code) || CONNECTION_MESSAGE.test(error.message);
}

const QUERY_CANCELED = '57014';

/** Whether a statement was given up because its own time limit was over; errors come wrapped from `Sql`. */
export function isStatementTimeout(error: unknown): boolean {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
  return cause instanceof pg.DatabaseError && cause.code === QUERY_CANCELED;
}

/** SQLSTATE of transactions that met crosswise, and go through when they are tried again. */
const SERIALIZATION_FAILURES = new Set(['40001', '40P01']);

/** Whether the whole transaction is to be tried again. */
export function isSerializationFailure(error: unknown): boolean {
  return error instanceof pg.DatabaseError && SERIALIZATION_FAILURES.has(error.code ?? '');
}

const FOREIGN_KEY_VIOLATION = '23503';

/** Whether the row that a new one points to is not there (any more). */
export function isForeignKeyViolation(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === FOREIGN_KEY_VIOLATION;
}
