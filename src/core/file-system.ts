import { constants, type FileHandle, link, mkdir, open, rename, rm, stat, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Returns the `code` of an error, such as `ENOENT`, or undefined if it has none. */
export function systemCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

/**
 * Returns advice to append to an error message if the folder is read-only, as most folders are for systemd services;
 * otherwise, returns an empty string.
 */
export function readOnlyAdvice(error: unknown): string {
  if (systemCode(error) !== 'EROFS') return '';
  return ' If systemd runs the site, you can also add the folder to ReadWritePaths= of its unit.';
}

/**
 * Creates a folder and its missing parents with mode 755, because the account that runs PostgreSQL must be able to
 * enter them; the database cluster inside is private. Existing folders stay unchanged.
 */
export function makeTraversableFolder(folder: string): Promise<void> {
  return makeFolder(folder, 0o755);
}

/**
 * Creates a folder and its missing parents with the permissions `mode`, regardless of the umask. Existing folders stay
 * unchanged. Recursive `mkdir` is not used: it never returns for a path below a folder that cannot contain folders,
 * such as /proc.
 * @param onCreated called with each new folder
 */
export async function makeFolder(
  folder: string,
  mode: number,
  onCreated: (folder: FileHandle) => Promise<void> = async () => {},
): Promise<void> {
  try {
    await mkdir(folder, { mode });
  } catch (error) {
    if (systemCode(error) === 'EEXIST' && (await isFolder(folder))) return;
    const parent = dirname(folder);
    if (systemCode(error) !== 'ENOENT' || (await isFolder(parent))) throw error;
    await makeFolder(parent, mode, onCreated);
    return makeFolder(folder, mode, onCreated);
  }
  const created = await open(folder, constants.O_RDONLY | (constants.O_DIRECTORY ?? 0) | (constants.O_NOFOLLOW ?? 0));
  try {
    await created.chmod(mode);
    await onCreated(created);
  } finally {
    await created.close();
  }
}

/**
 * Calls `work` with a path to an existing folder, and with a function that, for root, gives a new file or folder in it
 * to the folder's owner, who could not change it otherwise. For root on Linux, the path leads to the same folder, even
 * if the owner replaces the folder with a link.
 */
export async function inFolder<Result>(
  folder: string,
  work: (path: string, giveToOwner: (created: FileHandle) => Promise<void>) => Promise<Result>,
): Promise<Result> {
  if (process.geteuid?.() !== 0) return work(folder, async () => {});
  const opened = await open(folder, constants.O_RDONLY | (constants.O_DIRECTORY ?? 0));
  try {
    const { uid, gid } = await opened.stat();
    const path = process.platform === 'linux' ? `/proc/self/fd/${opened.fd}` : folder;
    return await work(path, async (created) => {
      await created.chown(uid, gid).catch((error: unknown) => {
        // Network file systems and containers may forbid this.
        if (!['EPERM', 'EINVAL'].includes(systemCode(error) ?? '')) throw error;
      });
    });
  } finally {
    await opened.close();
  }
}

/**
 * Opens a file for reading, unless the file itself is a symbolic link: in a folder that another user can change, a link
 * could lead root to a file that this user cannot read.
 * @returns undefined if there is no regular file at the path.
 */
export async function openRegularFile(path: string): Promise<FileHandle | undefined> {
  const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;
  // Without O_NONBLOCK, opening a named pipe would wait for a writer.
  const file = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch((error: unknown) => {
    // ELOOP, on FreeBSD EMLINK: the path is a link. ENXIO: it is a socket.
    if (['ENOENT', 'ELOOP', 'EMLINK', 'ENXIO'].includes(systemCode(error) ?? '')) return undefined;
    throw error;
  });
  if (file === undefined || (await file.stat()).isFile()) return file;
  await file.close();
  return undefined;
}

async function isFolder(path: string): Promise<boolean> {
  const stats = await stat(path).catch(() => undefined);
  return stats?.isDirectory() ?? false;
}

/**
 * Writes a file that readers never find incomplete, and that survives a loss of power: creates `aside` with the
 * permissions `mode`, calls `write`, syncs the file to disk and renames it to `path`. After a failure, deletes `aside`.
 * @param aside a path in the same folder as `path` that no other call uses, even in another process
 * @param replace whether to replace an existing file at `path` (default), or to fail with EEXIST. On a file system
 * without hard links, an existing file is always replaced.
 */
export async function writeThenRename<Result>(
  path: string,
  { aside, mode, replace = true }: { aside: string; mode: number; replace?: boolean | undefined },
  write: (file: FileHandle) => Promise<Result>,
): Promise<Result> {
  const file = await open(aside, 'wx', mode);
  try {
    const result = await writeAndSync(file, write).finally(() => file.close());
    await (replace ? rename(aside, path) : renameToNew(aside, path));
    await syncFolder(dirname(path));
    return result;
  } catch (error) {
    await rm(aside, { force: true });
    throw error;
  }
}

async function renameToNew(from: string, to: string): Promise<void> {
  try {
    // Unlike `rename`, `link` fails if the new name exists.
    await link(from, to);
  } catch (error) {
    // Some file systems have no hard links.
    if (!['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'].includes(systemCode(error) ?? '')) throw error;
    return rename(from, to);
  }
  return rm(from);
}

async function writeAndSync<Result>(file: FileHandle, write: (file: FileHandle) => Promise<Result>): Promise<Result> {
  const result = await write(file);
  await file.sync();
  return result;
}

/** Returns the free and total bytes of a folder's disk. Tests inject another implementation. */
export type MeasureDisk = (folder: string) => Promise<{ free: number; all: number }>;

export const measureDisk: MeasureDisk = async (folder) => {
  const { bavail, blocks, bsize } = await statfs(folder);
  return { free: bavail * bsize, all: blocks * bsize };
};

/** Syncs a folder to disk, so new and renamed files in it do not disappear after a loss of power. */
export async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return; // Windows cannot open a folder for syncing.
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } catch (error) {
    // Some network file systems cannot sync folders.
    if (systemCode(error) !== 'EINVAL') throw error;
  } finally {
    await handle.close();
  }
}
