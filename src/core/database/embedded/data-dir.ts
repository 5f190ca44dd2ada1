import { access, constants, mkdir, open, realpath, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { EmbeddedDatabaseError, systemCode } from './embedded-database-error.ts';

/** Creates the data folder if missing; returns its real path. Throws `data_dir_unwritable`. */
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
 * Creates a folder, and missing parents. Others may enter them whatever the umask says, since the database's account
 * has to; only the cluster inside is private. Not with `mkdir`'s recursion, which never ends where a folder exists but
 * nothing can be created in it, as in /proc.
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
  const made = await open(folder, constants.O_RDONLY | (constants.O_DIRECTORY ?? 0) | (constants.O_NOFOLLOW ?? 0));
  try {
    await made.chmod(0o755);
  } finally {
    await made.close();
  }
}

async function isFolder(path: string): Promise<boolean> {
  const stats = await stat(path).catch(() => undefined);
  return stats?.isDirectory() ?? false;
}
