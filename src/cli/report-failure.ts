import { CommanderError } from 'commander';
import { BackupFileError } from '../core/backups/backup-format.ts';
import { SiteNotEmptyError } from '../core/backups/restore-backup.ts';
import { ConnectError } from '../core/database/connect.ts';
import { EmbeddedDatabaseError } from '../core/database/embedded/embedded-database-error.ts';
import { ExportFileError } from '../core/exports/export-format.ts';
import { ImportUsageError } from '../core/imports/import-faults.ts';
import { PictureError } from '../core/pictures/local-pictures.ts';
import { StartError } from '../server/start-error.ts';
import { SettingsError } from '../settings/settings.ts';
import { UsageError } from './usage-error.ts';

/** Exit codes of every command. */
const FAILED = 1;
const BAD_USAGE = 2;

/** Errors that say what to do. */
const OPERATORS_TO_MEND = [
  BackupFileError,
  ConnectError,
  EmbeddedDatabaseError,
  ExportFileError,
  ImportUsageError,
  PictureError,
  SiteNotEmptyError,
  StartError,
  UsageError,
];

/** Says what went wrong in as few lines as it takes. @returns which exit code that is. */
export function reportFailure(error: unknown): number {
  // Commander has already written its own message, or the help that was asked for.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : BAD_USAGE;
  if (error instanceof SettingsError) {
    for (const fault of error.faults) console.error(`groundswell: ${fault}`);
    return BAD_USAGE;
  }
  const isOperatorsToMend = OPERATORS_TO_MEND.some((kind) => error instanceof kind);
  console.error(`groundswell: ${error instanceof Error ? error.message : error}`);
  if (isOperatorsToMend) return BAD_USAGE;
  if (error instanceof Error && process.env.LOG_LEVEL === 'debug') console.error(error.stack);
  return FAILED;
}
