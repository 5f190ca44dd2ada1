import { createHash, randomBytes } from 'node:crypto';
import {
  closeSync,
  fchownSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { connect, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { systemCode } from '../../file-system.ts';
import { type FolderOwner, isRoot, openRealFolder, runAsOwner, withRealFolder } from './account.ts';
import { SOCKET_PATH_BYTES } from './address.ts';
import { EmbeddedDatabaseError } from './embedded-database-error.ts';

export type Claim = { readonly won: true; release(): void } | { readonly won: false; readonly owner: Socket };

const LINK = /^owner-(\d+)$/;

/**
 * Claims a data folder for one process by listening on a Unix socket in it, or connects to its owner.
 *
 * The kernel knows whether the owner is alive: connections succeed while it is, and are refused as soon as it is gone.
 * This holds after kill -9, if the process id is reused, and across containers that share the folder.
 *
 * A dead owner leaves its socket file, and two processes that replaced it at the same time could both win. So nothing
 * is replaced: a process claims the folder with a new link `owner-<n+1>` to a socket that already listens, after it has
 * found that the owner of the highest link `owner-<n>` is dead. Creating a link is atomic, so only one process gets the
 * number. The highest number is never removed, so a late process with a lower number sees it and gives up.
 */
export async function claimOwnership(name: string, dataDir: string, server: Server): Promise<Claim> {
  if (process.platform === 'win32') return claimPipe(name, dataDir, server);
  const sockets = openSocketFolder(name, dataDir);
  try {
    for (;;) {
      const highest = highestNumber(sockets);
      const owner = highest === 0 ? null : await connectToListener(sockets.address(`owner-${highest}`));
      if (owner) {
        await close(server);
        sockets.close();
        return { won: false, owner };
      }
      if (await winNumber(sockets, highest + 1, server)) return { won: true, release: () => release(sockets, server) };
    }
  } catch (error) {
    sockets.close();
    throw error;
  }
}

async function winNumber(sockets: SocketFolder, number: number, server: Server): Promise<boolean> {
  const name = `${randomBytes(6).toString('hex')}.sock`;
  await listenAt(server, sockets.address(name), sockets.run);
  const link = join(sockets.folder, `owner-${number}`);
  const linked = sockets.run(() => linkUnlessTaken(name, link));
  const socketExists = () => lstatSync(join(sockets.folder, name), { throwIfNoEntry: false }) !== undefined;
  if (linked && highestNumber(sockets) === number && sockets.run(socketExists)) {
    await removeDead(sockets, number, name);
    return true;
  }
  await close(server);
  if (linked && highestNumber(sockets) !== number) remove(sockets, `owner-${number}`);
  return false;
}

function linkUnlessTaken(target: string, link: string): boolean {
  try {
    symlinkSync(target, link);
    return true;
  } catch (error) {
    if (systemCode(error) === 'EEXIST') return false;
    throw error;
  }
}

function remove(sockets: SocketFolder, name: string): void {
  sockets.run(() => rmSync(join(sockets.folder, name), { force: true }));
}

/** Removes links with lower numbers, and sockets without a listener, which dead processes left behind. */
async function removeDead(sockets: SocketFolder, number: number, own: string): Promise<void> {
  for (const name of namesIn(sockets)) {
    const match = LINK.exec(name);
    if (match && Number(match[1]) < number) remove(sockets, name);
    if (!name.endsWith('.sock') || name === own) continue;
    const alive = await connectToListener(sockets.address(name)).catch(() => undefined);
    if (alive === null) remove(sockets, name);
    alive?.destroy();
  }
}

function highestNumber(sockets: SocketFolder): number {
  return Math.max(0, ...namesIn(sockets).map((name) => Number(LINK.exec(name)?.[1] ?? 0)));
}

function namesIn(sockets: SocketFolder): string[] {
  return sockets.run(() => readdirSync(sockets.folder));
}

/** Stops listening. The link stays, because the highest number must never be removed (see `claimOwnership`). */
function release(sockets: SocketFolder, server: Server): void {
  server.close(() => sockets.close());
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    if (server.listening) server.close(() => resolve());
    else resolve();
  });
}

/** Claims a data folder on Windows, where a named pipe has one server and disappears with it. */
async function claimPipe(name: string, dataDir: string, server: Server): Promise<Claim> {
  const pipe = `\\\\.\\pipe\\${name}-${createHash('sha256').update(dataDir).digest('hex').slice(0, 32)}`;
  for (let attempt = 0; attempt < 100; attempt += 1) {
    try {
      await listenAt(server, pipe);
      return { won: true, release: () => void server.close() };
    } catch (error) {
      if (systemCode(error) !== 'EADDRINUSE' && systemCode(error) !== 'EACCES') throw error;
    }
    const owner = await connectToListener(pipe);
    if (owner) return { won: false, owner };
  }
  throw new EmbeddedDatabaseError(
    'start_failed',
    `The database in ${dataDir} is in use by a process that does not respond: stop that process.`,
  );
}

const MAX_NAME_BYTES = 24;

/** A folder for Unix sockets. `folder` is the real path; `address(name)` is the path of a socket for socket calls. */
interface SocketFolder {
  readonly folder: string;
  address(name: string): string;
  close(): void;
  /**
   * Runs synchronous work in the folder. If this process is root, the work has only the rights of the data folder's
   * owner.
   */
  run<Result>(work: () => Result): Result;
}

/**
 * Opens the folder of owners' sockets below a data folder, and creates it if missing. If the path is too long for a
 * socket, Linux uses an open handle of the folder; other systems use a short folder in /tmp, named by the hash of the
 * path.
 */
function openSocketFolder(name: string, dataDir: string): SocketFolder {
  const usual = join(dataDir, 'postgres.owner');
  const fits = Buffer.byteLength(usual) + 1 + MAX_NAME_BYTES <= SOCKET_PATH_BYTES;
  const hash = createHash('sha256').update(dataDir).digest('hex').slice(0, 16);
  const folder = fits || process.platform === 'linux' ? usual : join('/tmp', `${name}-owner-${hash}`);
  const owner = statSync(dataDir);
  const run = <Result>(work: () => Result) => runAsOwner(owner, work);
  run(() => mkdirSync(folder, { recursive: true, mode: 0o700 }));
  // Root may have created the folder before the data folder changed owner.
  if (isRoot() && owner.uid !== 0) handOver(folder, owner);
  const handle = run(() => openRealFolder(folder));
  if (folder !== usual) requirePrivate(folder, handle, owner);
  if (fits || folder !== usual) {
    closeSync(handle);
    return { folder, run, address: (name) => join(folder, name), close: () => undefined };
  }
  return { folder, run, address: (name) => `/proc/self/fd/${handle}/${name}`, close: () => closeSync(handle) };
}

/**
 * Checks that other users can neither put sockets into a folder in /tmp nor replace them, since the folder's name can
 * be guessed.
 * @throws EmbeddedDatabaseError `data_dir_refused`.
 */
function requirePrivate(folder: string, handle: number, owner: FolderOwner): void {
  const { uid, mode } = fstatSync(handle);
  if ((uid === owner.uid || uid === process.geteuid?.()) && (mode & 0o077) === 0) return;
  closeSync(handle);
  throw new EmbeddedDatabaseError(
    'data_dir_refused',
    `Another user can change ${folder}, the folder for sockets: delete it, or use a data folder with a shorter path.`,
  );
}

/** Gives the socket folder to the data folder's owner, if root owns it and it contains only sockets and their links. */
function handOver(folder: string, owner: FolderOwner): void {
  withRealFolder(folder, (path, handle) => {
    const isOurs = readdirSync(path).every((name) => /^(?:owner-\d+|[0-9a-f]{12}\.sock)$/.test(name));
    if (fstatSync(handle).uid === 0 && isOurs) fchownSync(handle, owner.uid, owner.gid);
  });
}

/**
 * Error codes of connecting to a socket without a listener. ECONNRESET: the listener was killed before it accepted the
 * connection.
 */
const NO_LISTENER_CODES = new Set(['ECONNREFUSED', 'ECONNRESET', 'ENOENT', 'ENOTSOCK']);

/**
 * Connects to a socket.
 * @returns null if the socket certainly has no listener.
 * @throws EmbeddedDatabaseError if this is uncertain.
 */
export function connectToListener(address: string): Promise<Socket | null> {
  return new Promise((resolve, reject) => {
    const socket = connect(address);
    socket.on('connect', () => {
      socket.removeAllListeners('error');
      socket.on('error', () => undefined); // If the other end dies, 'close' follows, which callers handle.
      resolve(socket);
    });
    socket.on('error', (error) => {
      const code = systemCode(error);
      if (code !== undefined && NO_LISTENER_CODES.has(code)) resolve(null);
      else {
        const reason = `Cannot check whether another process uses the database: connecting to its socket failed (${code})`;
        const advice = 'If a process of another user uses it, stop that process, or run this command as that user.';
        reject(new EmbeddedDatabaseError('data_dir_in_use', `${reason}. ${advice}`, { cause: error }));
      }
    });
  });
}

function listenAt(server: Server, address: string, run: SocketFolder['run'] = (work) => work()): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.once('listening', () => {
      server.removeListener('error', reject);
      resolve();
    });
    // `listen` binds before it returns, so it creates the socket with the rights of `run`.
    run(() => server.listen(address));
  });
}
