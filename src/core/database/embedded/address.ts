import { rmSync } from 'node:fs';
import { chmod, chown, lstat, mkdir, mkdtemp } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import pg from 'pg';
import { type Account, ownerOnDisk } from './account.ts';

/** The address on which a postmaster listens: a Unix socket in `socketDir`, or a loopback port if that is undefined. */
export interface Address {
  readonly socketDir: string | undefined;
  readonly port: number;
}

/** `name` is the name of the role, of its database and of the application. */
export interface Credentials {
  readonly name: string;
  readonly password: string;
}

/**
 * The result of `probeServer`. `starting`: the server runs but accepts no sessions, because it is starting, recovering
 * or stopping. `silent`: no response in time.
 */
type ProbeResult = 'ready' | 'starting' | 'unreachable' | 'silent';

const PROBE_TIMEOUT_MS = 10_000;
/** SQLSTATE while a server starts, recovers or stops. */
const CANNOT_CONNECT_NOW = '57P03';

const SOCKET_PORT = 5432;
const LOOPBACK = '127.0.0.1';
/**
 * Maximum length of a socket's path: `sun_path` has 104 bytes on macOS and 108 on Linux, including the terminating null
 * byte.
 */
export const SOCKET_PATH_BYTES = 103;
const shortFolderPrefix = (name: string) => join(tmpdir(), `${name}-pg-`);

/**
 * Chooses a postmaster's address: a Unix socket in the cluster's own folder (0700), or in a private folder with a short
 * path if the cluster's path is not suitable; a free loopback port if neither is possible.
 */
export async function chooseAddress(
  { name, clusterDir, account }: { name: string; clusterDir: string; account: Account },
  unixSockets: boolean,
): Promise<Address> {
  if (!unixSockets) return { socketDir: undefined, port: await freePort() };
  // PostgreSQL reads `unix_socket_directories` as a list, in which commas and quotes would have to be escaped.
  if (fitsSocket(clusterDir) && !/[,"]/.test(clusterDir)) return { socketDir: clusterDir, port: SOCKET_PORT };
  if (!fitsSocket(`${shortFolderPrefix(name)}xxxxxx`)) return { socketDir: undefined, port: await freePort() };
  const socketDir = await mkdtemp(shortFolderPrefix(name));
  await makePrivate(socketDir, account);
  return { socketDir, port: SOCKET_PORT };
}

/**
 * Recreates the short private folder of a socket if it was deleted, for example by a job that cleans up temporary
 * files.
 * @throws Error `EEXIST` if another user has created a folder with this name in the meantime.
 */
export async function restoreShortFolder(name: string, account: Account, socketDir = ''): Promise<void> {
  if (!isShortFolder(name, socketDir)) return;
  const found = await lstat(socketDir).catch(() => undefined);
  if (found?.isDirectory() && found.uid === (ownerOnDisk(account)?.uid ?? process.getuid?.())) return;
  await mkdir(socketDir, 0o700);
  await makePrivate(socketDir, account);
}

/** Deletes the short private folder of a socket, if any. */
export function removeShortFolder(name: string, socketDir = ''): void {
  if (isShortFolder(name, socketDir)) rmSync(socketDir, { recursive: true, force: true });
}

function isShortFolder(name: string, folder: string): boolean {
  const prefix = shortFolderPrefix(name);
  return dirname(folder) === dirname(prefix) && basename(folder).startsWith(basename(prefix));
}

async function makePrivate(folder: string, account: Account): Promise<void> {
  await chmod(folder, 0o700);
  const owner = ownerOnDisk(account);
  if (owner) await chown(folder, owner.uid, owner.gid);
}

/**
 * Overrides variables such as PGSSLMODE, which are meant for other databases. Even defaults are set explicitly, because
 * the driver ignores empty parameters.
 */
const CONNECTION = 'sslmode=disable&sslnegotiation=postgres&options=-cclient_encoding%3DUTF8';

/** Returns the `postgres://` URL of the database. It contains the password: never log it. */
export function databaseUrl(address: Address, { name, password }: Credentials): string {
  const url = `postgres://${name}:${encodeURIComponent(password)}@`;
  if (address.socketDir === undefined) return `${url}${LOOPBACK}:${address.port}/${name}?${CONNECTION}`;
  return `${url}localhost:${address.port}/${name}?host=${encodeURIComponent(address.socketDir)}&${CONNECTION}`;
}

/**
 * Opens a session to check that the server responds. Connecting is not enough: the kernel also accepts connections for
 * a suspended process, and for a killed one that still exists.
 */
export async function probeServer(address: Address, credentials: Credentials): Promise<ProbeResult> {
  const client = new pg.Client({
    connectionString: databaseUrl(address, credentials),
    connectionTimeoutMillis: PROBE_TIMEOUT_MS,
    application_name: credentials.name,
  });
  client.on('error', () => undefined); // The server may die during the session.
  try {
    await client.connect();
    return 'ready';
  } catch (error) {
    // Any other refusal, such as too many connections, shows that the server works.
    if (error instanceof pg.DatabaseError) return error.code === CANNOT_CONNECT_NOW ? 'starting' : 'ready';
    return error instanceof Error && /timeout/.test(error.message) ? 'silent' : 'unreachable';
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** Returns whether the path of a socket in this folder is short enough. */
export function fitsSocket(folder: string): boolean {
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
