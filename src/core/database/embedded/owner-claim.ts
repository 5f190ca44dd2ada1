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
import { type FolderOwner, isRoot, openRealFolder, withRealFolder, withRightsOf } from './account.ts';
import { EmbeddedDatabaseError } from './embedded-database-error.ts';

export type Claim = { readonly won: true; release(): void } | { readonly won: false; readonly owner: Socket };

const LINK = /^owner-(\d+)$/;

/**
 * Claims a data folder for one process by listening on a unix socket in it, or connects to its owner.
 *
 * The kernel knows whether the owner lives: connecting succeeds while it does and is refused the moment it is gone,
 * kill -9 included, even if its process id is reused, and across containers that share the folder.
 *
 * A dead owner's socket file stays, and replacing such a file is where two newcomers could both win. So nothing is
 * replaced: a claim is a new link `owner-<n+1>` to a socket that listens already, made after the highest link
 * `owner-<n>` was found dead. Creating a link is atomic, so one newcomer gets the number; the highest number is never
 * removed, so a late newcomer with an old number sees a higher one and gives way.
 */
export async function claimOwnership(dataDir: string, server: Server): Promise<Claim> {
  if (process.platform === 'win32') return claimPipe(dataDir, server);
  const sockets = openSocketFolder(dataDir);
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
  const isThere = () => lstatSync(join(sockets.folder, name), { throwIfNoEntry: false }) !== undefined;
  if (linked && highestNumber(sockets) === number && sockets.run(isThere)) {
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

/** Lower numbers, and sockets of processes that were killed before they had a number. */
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

/** The link stays, although it points nowhere: see above why numbers only grow. */
function release(sockets: SocketFolder, server: Server): void {
  server.close(() => sockets.close());
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    if (server.listening) server.close(() => resolve());
    else resolve();
  });
}

/** Windows: a named pipe has one server and disappears with it. */
async function claimPipe(dataDir: string, server: Server): Promise<Claim> {
  const pipe = `\\\\.\\pipe\\groundswell-${createHash('sha256').update(dataDir).digest('hex').slice(0, 32)}`;
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
    'data_dir_held',
    `The database in ${dataDir} is held by a process that does not respond: stop it.`,
  );
}

/** `sun_path` has 104 bytes on macOS and 108 on Linux, including its terminating zero. */
const SOCKET_PATH_BYTES = 103;
const LONGEST_NAME_BYTES = 24;

/**
 * A folder for unix sockets: `folder` is its real path, `address(name)` what a socket call accepts for a name in it.
 */
interface SocketFolder {
  readonly folder: string;
  address(name: string): string;
  close(): void;
  /** Runs synchronous work in it: with the rights of the data folder's owner if root works there. */
  run<Result>(work: () => Result): Result;
}

/**
 * Opens the folder of the owner's sockets below a data folder, created if missing. A path that is too long for a
 * socket is reached through an open handle on Linux; elsewhere a short folder named by the path's hash stands in.
 */
function openSocketFolder(dataDir: string): SocketFolder {
  const usual = join(dataDir, 'postgres.owner');
  const fits = Buffer.byteLength(usual) + 1 + LONGEST_NAME_BYTES <= SOCKET_PATH_BYTES;
  const hash = createHash('sha256').update(dataDir).digest('hex').slice(0, 16);
  const folder = fits || process.platform === 'linux' ? usual : join('/tmp', `groundswell-owner-${hash}`);
  const owner = statSync(dataDir);
  const run = <Result>(work: () => Result) => withRightsOf(owner, work);
  run(() => mkdirSync(folder, { recursive: true, mode: 0o700 }));
  // Created by root before the data folder changed owner.
  if (isRoot() && owner.uid !== 0) handOver(folder, owner);
  const handle = run(() => openRealFolder(folder));
  if (fits || folder !== usual) {
    closeSync(handle);
    return { folder, run, address: (name) => join(folder, name), close: () => undefined };
  }
  return { folder, run, address: (name) => `/proc/self/fd/${handle}/${name}`, close: () => closeSync(handle) };
}

/** Gives root's folder to the data folder's owner, if it contains only sockets and their links. */
function handOver(folder: string, owner: FolderOwner): void {
  withRealFolder(folder, (path, handle) => {
    const isOurs = readdirSync(path).every((name) => /^(?:owner-\d+|[0-9a-f]{12}\.sock)$/.test(name));
    if (fstatSync(handle).uid === 0 && isOurs) fchownSync(handle, owner.uid, owner.gid);
  });
}

/** What a connection gets without a listener: ECONNRESET if that was killed before it took the connection. */
const NOBODY_LISTENS = new Set(['ECONNREFUSED', 'ECONNRESET', 'ENOENT', 'ENOTSOCK']);

/** Connects to a socket. Null: certainly without a listener. Throws if that is unknown. */
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
      if (code !== undefined && NOBODY_LISTENS.has(code)) resolve(null);
      else {
        const reason = `The database is held by a process of another user that does not respond (${code})`;
        reject(
          new EmbeddedDatabaseError('data_dir_held', `${reason}: stop it, or run as that user.`, { cause: error }),
        );
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
    // Binds before it returns.
    run(() => server.listen(address));
  });
}
