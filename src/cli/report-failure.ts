import { CommanderError } from 'commander';
import type { ProblemCode } from '../contract/problem.ts';
import { BackupFileError } from '../core/backups/backup-file.ts';
import { SiteNotEmptyError } from '../core/backups/restore-backup.ts';
import { CoreError } from '../core/core-error.ts';
import { ConnectError } from '../core/database/connect.ts';
import { UnknownOutcomeError } from '../core/database/database-errors.ts';
import { EmbeddedDatabaseError } from '../core/database/embedded/embedded-database-error.ts';
import { ImportUsageError } from '../core/imports/import-errors.ts';
import { PictureError } from '../core/pictures/local-pictures.ts';
import { StartError } from '../server/start-error.ts';
import { SettingsError } from '../settings/settings.ts';
import { UsageError } from './arguments.ts';
import { printError } from './terminal/output.ts';
import { InterruptedError } from './with-database.ts';

/** The exit codes that all commands share. */
const EXIT_FAILURE = 1;
const EXIT_USAGE = 2;

/** Errors in usage, settings or input; their messages say what to do. */
const USAGE_ERRORS = [
  BackupFileError,
  EmbeddedDatabaseError,
  ImportUsageError,
  PictureError,
  SiteNotEmptyError,
  StartError,
  UsageError,
];

/** The codes of errors in values that operators pass to commands. */
const BAD_INPUT: ReadonlySet<ProblemCode> = new Set<ProblemCode>(['bad_cursor', 'product_invalid']);

/** Advice for error codes of the file system and of PostgreSQL (appendix A of its manual). */
const ADVICE: ReadonlyMap<string, string> = new Map([
  [
    'ENOSPC',
    'The disk of the file or of the temporary folder (TMPDIR) is full. Free some space, then run the command again.',
  ],
  ['53100', "The database's disk is full. Free some space, then run the command again."],
  ['53300', 'The database accepts no more connections. Raise its max_connections, or run the command again later.'],
  [
    '28P01',
    'The database rejected the password. Correct it in DATABASE_URL, or restore the password file of the embedded database.',
  ],
  ['28000', 'The database rejected the role. Correct it in DATABASE_URL, or allow it in pg_hba.conf.'],
  ['3D000', 'The database does not exist. Create it, or correct its name in DATABASE_URL.'],
  ['25006', 'The database is read-only. Set DATABASE_URL to the primary server.'],
  ['57P03', 'The database is starting up or shutting down. Run the command again in a moment.'],
]);

/** Does not advise to run the command again: repeating an undo that was committed would undo an earlier change. */
const UNKNOWN_OUTCOME =
  'The database did not confirm the change, which may have been made. See `groundswell log` before you run the command again.';

/** Prints a short explanation of why a command failed. @returns the exit code. */
export function reportFailure(error: unknown): number {
  // Commander has already printed its own message, or the help.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : EXIT_USAGE;
  if (error instanceof SettingsError) {
    for (const text of error.errors) printError(`groundswell: ${text}`);
    return EXIT_USAGE;
  }
  const isStartFailure = error instanceof EmbeddedDatabaseError && error.code === 'start_failed';
  const isBadInput = error instanceof CoreError && BAD_INPUT.has(error.code);
  const isUsageError = isBadInput || (!isStartFailure && USAGE_ERRORS.some((kind) => error instanceof kind));
  printError(`groundswell: ${messageOf(error)}`);
  if (isUsageError) return EXIT_USAGE;
  if (error instanceof InterruptedError) return error.exitCode;
  const isExpected = isStartFailure || error instanceof ConnectError;
  // The settings may be invalid, so LOG_LEVEL is read from the environment.
  const level = process.env.LOG_LEVEL?.trim().toLowerCase();
  const isVerbose = level === 'debug' || level === 'trace';
  if (!isExpected && isVerbose && error instanceof Error) printError(error.stack ?? '');
  return EXIT_FAILURE;
}

/** Returns the advice for the first known error code among the causes, or else the message of the error. */
function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // A connection error already contains the address and the reason.
  if (error instanceof ConnectError) return error.message;
  if (error instanceof UnknownOutcomeError) return UNKNOWN_OUTCOME;
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) {
    const advice = 'code' in cause ? ADVICE.get(String(cause.code)) : undefined;
    if (advice !== undefined) return advice;
  }
  return error.message;
}
