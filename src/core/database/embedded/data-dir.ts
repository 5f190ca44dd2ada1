import { access, chmod, constants, mkdir, realpath } from 'node:fs/promises';
import { resolve } from 'node:path';
import { EmbeddedDatabaseError, systemCode } from './embedded-database-error.ts';

/** Makes the data folder when missing; returns its real path. Throws `data_dir_unwritable`. */
export async function prepareDataDir(dataDir: string): Promise<string> {
  const wanted = resolve(dataDir);
  try {
    // Others may pass through (the cluster inside is private): the database's account has to, whatever the umask says.
    if (await mkdir(wanted, { recursive: true })) await chmod(wanted, 0o755);
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
