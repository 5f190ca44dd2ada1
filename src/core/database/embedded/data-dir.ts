import { access, chmod, constants, mkdir, realpath, stat } from 'node:fs/promises';
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
 *
 * Not by `mkdir`'s own recursion, which never ends where a folder exists and yet nothing can be made in it, as in /proc.
 */
export async function makeOpenFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder);
  } catch (error) {
    if (systemCode(error) === 'EEXIST' && (await isFolder(folder))) return;
    const parent = dirname(folder);
    if (systemCode(error) !== 'ENOENT' || (await isFolder(parent))) throw error;
    await makeOpenFolder(parent);
    await mkdir(folder);
  }
  await chmod(folder, 0o755);
}

async function isFolder(path: string): Promise<boolean> {
  const stats = await stat(path).catch(() => undefined);
  return stats?.isDirectory() ?? false;
}
