import { chmod, chown, mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { type Account, ownerOnDisk } from './account.ts';

/** Where a postmaster listens: in the folder of a unix socket, or (socketDir undefined) on a loopback port. */
export interface Address {
  readonly socketDir: string | undefined;
  readonly port: number;
}

export const ROLE = 'groundswell';
export const DATABASE = 'groundswell';

const SOCKET_PORT = 5432;
const LOOPBACK = '127.0.0.1';
/** `sun_path` has 104 bytes on macOS and 108 on Linux, its closing zero included. */
const SOCKET_PATH_BYTES = 103;
const SHORT_FOLDER = 'groundswell-pg-';

/**
 * Chooses where a postmaster shall listen: a socket in the cluster's own folder (0700), in a short private folder when
 * that path is too long for a socket, on a free loopback port where there are no unix sockets.
 */
export async function chooseAddress(clusterDir: string, account: Account, unixSockets: boolean): Promise<Address> {
  if (!unixSockets) return { socketDir: undefined, port: await freePort() };
  // PostgreSQL reads the setting as a list, in which a comma or a quote would have to be escaped.
  if (fitsSocket(clusterDir) && !/[,"]/.test(clusterDir)) return { socketDir: clusterDir, port: SOCKET_PORT };
  if (!fitsSocket(join(tmpdir(), `${SHORT_FOLDER}xxxxxx`))) return { socketDir: undefined, port: await freePort() };
  const socketDir = await mkdtemp(join(tmpdir(), SHORT_FOLDER));
  await chmod(socketDir, 0o700);
  const owner = ownerOnDisk(account);
  if (owner) await chown(socketDir, owner.uid, owner.gid);
  return { socketDir, port: SOCKET_PORT };
}

/** Removes the short private folder of a socket, when there was one. */
export async function removeShortFolder(socketDir: string | undefined): Promise<void> {
  if (!socketDir || !basename(socketDir).startsWith(SHORT_FOLDER) || dirname(socketDir) !== tmpdir()) return;
  await rm(socketDir, { recursive: true, force: true });
}

/** The `postgres://` URL of the product's database. It holds the password: never to be logged. */
export function databaseUrl(address: Address, password: string): string {
  const url = `postgres://${ROLE}:${encodeURIComponent(password)}@`;
  if (address.socketDir === undefined) return `${url}${LOOPBACK}:${address.port}/${DATABASE}`;
  return `${url}localhost:${address.port}/${DATABASE}?host=${encodeURIComponent(address.socketDir)}`;
}

/** Does anything accept connections there? */
export function isListening(address: Address): Promise<boolean> {
  return new Promise((resolve) => {
    const socket =
      address.socketDir === undefined
        ? connect(address.port, LOOPBACK)
        : connect(join(address.socketDir, `.s.PGSQL.${address.port}`));
    socket.on('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => resolve(false));
  });
}

function fitsSocket(folder: string): boolean {
  return Buffer.byteLength(join(folder, `.s.PGSQL.${SOCKET_PORT}`)) <= SOCKET_PATH_BYTES;
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.on('error', reject);
    server.listen(0, LOOPBACK, () => {
      const bound = server.address();
      server.close(() => resolve(typeof bound === 'object' && bound ? bound.port : 0));
    });
  });
}
