import { createHash } from 'node:crypto';
import { chownSync, closeSync, mkdirSync, openSync, statSync } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { connect, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { isRoot } from './account.ts';
import { EmbeddedDatabaseError, systemCode } from './embedded-database-error.ts';

/** `sun_path` has 104 bytes on macOS and 108 on Linux, its closing zero included. */
const SOCKET_PATH_BYTES = 103;
const LONGEST_NAME_BYTES = 24;

/** A folder for unix sockets: `folder` is its real path, `address(name)` what a socket call accepts for a name in it. */
export interface SocketFolder {
  readonly folder: string;
  address(name: string): string;
  close(): void;
  /** When root works in the folder of a user: that user, who is to find nothing closed to them afterwards. */
  readonly owner: { readonly uid: number; readonly gid: number } | undefined;
}

/**
 * Opens the folder of the owner's sockets below a data folder, made when missing. A path that is too long for a socket
 * is reached through an open handle on Linux; elsewhere a short folder named by the path's hash stands in.
 */
export function openSocketFolder(dataDir: string): SocketFolder {
  const usual = join(dataDir, 'postgres.owner');
  const fits = Buffer.byteLength(usual) + 1 + LONGEST_NAME_BYTES <= SOCKET_PATH_BYTES;
  const hash = createHash('sha256').update(dataDir).digest('hex').slice(0, 16);
  const folder = fits || process.platform === 'linux' ? usual : join('/tmp', `groundswell-owner-${hash}`);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const { uid, gid } = statSync(dataDir);
  const owner = isRoot() && uid !== 0 ? { uid, gid } : undefined;
  if (owner) chownSync(folder, owner.uid, owner.gid);
  if (fits || folder !== usual) return { folder, owner, address: (name) => join(folder, name), close: () => undefined };
  const handle = openSync(folder, 'r');
  return { folder, owner, address: (name) => `/proc/self/fd/${handle}/${name}`, close: () => closeSync(handle) };
}

/** Connects to a socket that somebody may listen on. Null: certainly nobody does. Throws when that cannot be known. */
export function connectToListener(address: string): Promise<Socket | null> {
  return new Promise((resolve, reject) => {
    const socket = connect(address);
    socket.on('connect', () => {
      socket.removeAllListeners('error');
      socket.on('error', () => undefined); // The other end's death comes as 'close', which is what everybody waits for.
      resolve(socket);
    });
    socket.on('error', (error) => {
      const code = systemCode(error);
      if (code === 'ECONNREFUSED' || code === 'ENOENT' || code === 'ENOTSOCK') resolve(null);
      else {
        const reason = `The database is held by a process of another user that does not answer (${code})`;
        reject(
          new EmbeddedDatabaseError('data_dir_held', `${reason}: stop it, or run as that user.`, { cause: error }),
        );
      }
    });
  });
}

export function listenAt(server: Server, address: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(address, () => {
      server.removeListener('error', reject);
      resolve();
    });
  });
}

/** True for a path that is there, also as a link that leads nowhere. */
export function isThere(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}
