import { constants, mkdir, open, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/** The `code` of a Node system error (`ENOENT`, …), or undefined for anything else that was thrown. */
export function systemCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

/**
 * Creates a folder, and missing parents. Others may enter them regardless of the umask, since the database's account
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

/** Syncs a folder to disk: a new or renamed file is durable only then. */
export async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return; // Windows has no handle on a folder to sync.
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
