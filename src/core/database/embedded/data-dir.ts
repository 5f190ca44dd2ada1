import { access, chmod, constants, mkdir, realpath } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { EmbeddedDatabaseError, systemCode } from './embedded-database-error.ts';

/** Makes the data folder when missing; returns its real path. Throws `data_dir_unwritable`. */
export async function prepareDataDir(dataDir: string): Promise<string> {
  const wanted = resolve(dataDir);
  try {
    await makeOpenFolder(wanted);
    await access(wanted, constants.R_OK | constants.W_OK | constants.X_OK);
    return await realpath(wanted);
  } catch (error) {
    throw new EmbeddedDatabaseError(
      'data_dir_unwritable',
      `The data folder ${wanted} cannot be written (${systemCode(error) ?? error}): set DATA_DIR to a folder that this user may write, or change its owner.`,
      { cause: error },
    );
  }
}

/**
 * Makes a folder, and those above it that are missing. Others may pass through whatever the umask says: the account that
 * the database runs as has to. What is private is the cluster inside.
 */
export async function makeOpenFolder(folder: string): Promise<void> {
  const first = await mkdir(folder, { recursive: true });
  if (!first) return;
  for (let made = folder; made.length >= first.length; made = dirname(made)) await chmod(made, 0o755);
}
