import { stat } from 'node:fs/promises';
import type { Account } from './account.ts';
import { EmbeddedDatabaseError } from './embedded-database-error.ts';

/** PostgreSQL takes a folder of its owner alone, or one that the owner's group may read. */
const TAKEN_MODES = [0o700, 0o750];

/**
 * Checks what PostgreSQL itself checks of a cluster's folder, and says what to do: its own last line would only say what is wrong.
 * @throws EmbeddedDatabaseError `data_dir_refused`.
 */
export async function mustBeTaken({ clusterDir, account }: { clusterDir: string; account: Account }): Promise<void> {
  // Windows has neither owners by number nor modes.
  const self = process.geteuid?.();
  if (self === undefined) return;
  const { uid, mode } = await stat(clusterDir);
  // Root hands the folder to whichever account it runs PostgreSQL as.
  if (account.kind === 'self' && uid !== self) {
    throw refused(
      `The database in ${clusterDir} belongs to the user with the id ${uid}, and this is the one with the id ${self}: ` +
        `run it as that user, or give it the folder (as root: chown -R ${self} ${clusterDir}), or set DATA_DIR to another folder.`,
    );
  }
  const permissions = mode & 0o777;
  if (TAKEN_MODES.includes(permissions)) return;
  throw refused(
    `The database in ${clusterDir} has the mode ${permissions.toString(8)}, and PostgreSQL takes a folder of its owner alone: ` +
      `run chmod 700 ${clusterDir}.`,
  );
}

function refused(message: string): EmbeddedDatabaseError {
  return new EmbeddedDatabaseError('data_dir_refused', message);
}
