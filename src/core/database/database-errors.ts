import pg from 'pg';
import { CoreError } from '../core-error.ts';
import { systemCode } from '../file-system.ts';
import type { Log } from '../runtime.ts';

/** The connection failed during COMMIT, so the transaction may have been committed. */
export class UnknownOutcomeError extends CoreError {}

/** The driver's messages for connections that failed, were lost, or timed out. */
const CONNECTION_MESSAGE =
  /connection terminated|timeout exceeded when trying to connect|query read timeout|client has encountered a connection error|client was closed|SSL connection/i;

/**
 * Codes of system and TLS errors. They mean that the connection failed, possibly after the statement was executed.
 * Errors of the statement itself have a SQLSTATE, or another code of Node.js, such as ERR_INVALID_ARG_TYPE.
 */
const SOCKET_CODE = /^(?:E(?!RR_)[A-Z_]+|ERR_(?:O?SSL|TLS)_\w+|CERT_\w+|\w+_CERT\w*|UNABLE_TO_\w+)$/;

/**
 * SQLSTATE classes and codes (PostgreSQL documentation, appendix A) of errors that the statement did not cause: 08
 * connection, 25006 read-only, 25P03 a transaction that was idle for too long, 25P04 a transaction that took too long,
 * 28 authorization, 3D000 database missing, 53 resources (53100: disk full), 57 shutdown, recovery or cancellation, 58
 * system errors outside PostgreSQL.
 */
const CONNECTION_FAILURE_STATE = /^(?:08...|25006|25P0[34]|28...|3D000|53...|57...|58...)$/;
const REFUSES_WRITES_STATE = /^(?:25006|53100)$/;

/**
 * Returns whether an error means that the database is unavailable or read-only, rather than that a statement is
 * invalid.
 */
export function isConnectionFailure(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof pg.DatabaseError) return CONNECTION_FAILURE_STATE.test(error.code ?? '');
  const code = systemCode(error) ?? '';
  // If several addresses of a host name fail, Node throws an AggregateError without a message but with a code.
  return SOCKET_CODE.test(code) || CONNECTION_MESSAGE.test(error.message);
}

/** Returns whether the server responds but accepts no writes: it is read-only, or its disk is full. */
function refusesWrites(error: unknown): boolean {
  return error instanceof pg.DatabaseError && REFUSES_WRITES_STATE.test(error.code ?? '');
}

/**
 * Returns whether the database was unavailable for a statement. An error without a cause does not come from
 * `asCoreError`. For example, a tally is unavailable when the first launch of its day has just begun.
 */
export function isConnectionError(error: unknown): error is CoreError {
  return error instanceof CoreError && error.code === 'unavailable' && error.cause !== undefined;
}

/** Returns a CoreError `unavailable` if the database was unavailable, or else the error itself. */
export function asCoreError(error: unknown): unknown {
  if (!isConnectionFailure(error)) return error;
  const message = refusesWrites(error)
    ? 'The database accepts no changes right now. Please try again in a moment.'
    : 'The database is unavailable right now. Please try again in a moment.';
  return new CoreError('unavailable', message, { cause: error });
}

/** SQLSTATE classes of invalid values, violated constraints and exceeded limits, which one row of many can cause. */
const DATA_ERROR_STATE = /^(?:2[123]|44|54)...$/;

/**
 * Returns whether one item of a batch may have caused the error. After any other error, splitting the batch does not
 * help.
 */
export function isItemError(error: unknown): boolean {
  return !(error instanceof pg.DatabaseError) || DATA_ERROR_STATE.test(error.code ?? '');
}

/** Creates a function that returns whether an error has one of these SQLSTATE codes. */
function hasState(...codes: string[]): (error: unknown) => boolean {
  return (error) => error instanceof pg.DatabaseError && codes.includes(error.code ?? '');
}

/** Returns the driver's error, because `Sql` wraps some errors. */
function causeOf(error: unknown): unknown {
  return error instanceof Error && error.cause !== undefined ? error.cause : error;
}

const isCanceled = hasState('57014', '25P04');

/**
 * Returns whether the server canceled a statement, usually because the statement exceeded `statement_timeout`, or its
 * transaction `transaction_timeout`.
 */
export function isStatementTimeout(error: unknown): boolean {
  return isCanceled(causeOf(error));
}

/**
 * Returns whether a statement failed because it exceeded the client's or the server's timeout, or because it conflicted
 * with other work, such as replication on a replica.
 */
export function isSlowStatement(error: unknown): boolean {
  const cause = causeOf(error);
  const isClientTimeout = cause instanceof Error && /query read timeout/i.test(cause.message);
  return isClientTimeout || isCanceled(cause) || isSerializationFailure(error);
}

/** Returns whether a statement waited for a lock longer than `lock_timeout`. */
export const isLockTimeout = hasState('55P03');

/** Returns whether the whole transaction should be retried after a serialization failure or a deadlock. */
export const isSerializationFailure = hasState('40001', '40P01');

/** Returns whether a new row has the key of an existing row. */
export const isUniqueViolation = hasState('23505');

/** Returns whether a new row references a row that does not exist. */
export const isForeignKeyViolation = hasState('23503');

/** Returns whether the role lacks the privilege for a statement. */
export const isPermissionDenied = hasState('42501');

function describeFailure(cause: unknown): string {
  if (isCanceled(cause)) return 'The database canceled a statement, usually because it took too long';
  return refusesWrites(cause) ? 'The database accepts no changes' : 'The database is unavailable';
}

/** Failures with the same reason belong to one outage if at most this time passes between them. */
const OUTAGE_GAP_MS = 60_000;

/**
 * Returns a function that awaits work, and logs an outage if the work fails because the database is unavailable: once
 * per reason, not once per request. The reason is the SQLSTATE, the system's error code or else the message. Nothing is
 * logged after `signal` has aborted, because that closes the connections.
 */
export function watchOutages(
  log: Log,
  { now = () => performance.now(), signal }: { now?: () => number; signal?: AbortSignal | undefined } = {},
) {
  const lastSeen = new Map<string, number>();

  function note({ cause, message }: CoreError): void {
    const reason = systemCode(cause) ?? message;
    const last = lastSeen.get(reason) ?? Number.NEGATIVE_INFINITY;
    lastSeen.set(reason, now());
    if (now() - last > OUTAGE_GAP_MS) log.error({ err: cause, reason }, describeFailure(cause));
  }

  return async <Result>(work: Promise<Result>): Promise<Result> => {
    try {
      return await work;
    } catch (error) {
      if (isConnectionError(error) && !signal?.aborted) note(error);
      throw error;
    }
  };
}
