import { createHash } from 'node:crypto';
import { closeSync, mkdirSync, openSync } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { connect, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { EmbeddedDatabaseError, systemCode } from './embedded-database-error.ts';

/** `sun_path` has 104 bytes on macOS and 108 on Linux, its closing zero included. */
const SOCKET_PATH_BYTES = 103;
const LONGEST_NAME_BYTES = 24;

/** A folder for unix sockets: `folder` is its real path, `address(name)` what a socket call accepts for a name in it. */
export interface SocketFolder {
  readonly folder: string;
  address(name: string): string;
  close(): void;
}

/**
 * Opens the folder of the owner's sockets below a data folder, made when missing. A path that is too long for a socket
 * is reached through an open handle on Linux; elsewhere a short folder named by the path's hash stands in.
 */
export function openSocketFolder(dataDir: string): SocketFolder {
  const folder = join(dataDir, 'postgres.owner');
  if (Buffer.byteLength(folder) + 1 + LONGEST_NAME_BYTES <= SOCKET_PATH_BYTES) {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    return { folder, address: (name) => join(folder, name), close: () => undefined };
  }
  if (process.platform === 'linux') {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const handle = openSync(folder, 'r');
    return { folder, address: (name) => `/proc/self/fd/${handle}/${name}`, close: () => closeSync(handle) };
  }
  const short = join('/tmp', `groundswell-owner-${createHash('sha256').update(dataDir).digest('hex').slice(0, 16)}`);
  mkdirSync(short, { recursive: true, mode: 0o700 });
  return { folder: short, address: (name) => join(short, name), close: () => undefined };
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

export function listenOn(server: Server, address: string): Promise<void> {
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
