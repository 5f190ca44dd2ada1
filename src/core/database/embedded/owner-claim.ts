import { createHash, randomBytes } from 'node:crypto';
import { chown, readdir, rm, symlink } from 'node:fs/promises';
import type { Server, Socket } from 'node:net';
import { join } from 'node:path';
import { EmbeddedDatabaseError, systemCode } from './embedded-database-error.ts';
import { connectToListener, isThere, listenAt, openSocketFolder, type SocketFolder } from './owner-socket.ts';

export type Claim = { readonly won: true; release(): void } | { readonly won: false; readonly owner: Socket };

const LINK = /^owner-(\d+)$/;

/**
 * Claims a data folder for one process by listening on a unix socket in it, or connects to whoever has it.
 *
 * The kernel itself says whether the owner lives: connecting succeeds while it does and is refused the moment it is
 * gone, kill -9 included, whatever process ids are used for by then, and across containers that share the folder.
 *
 * A dead owner's socket file stays, and replacing such a file is where two newcomers could both win. So nothing is
 * replaced: a claim is a new link `owner-<n+1>` to a socket that listens already, made after the highest link `owner-<n>`
 * was found dead. Making a link is atomic, so that one newcomer gets the number; the highest number is never removed, so
 * that a late newcomer with an old number sees a higher one and gives way.
 */
export async function claimOwnership(dataDir: string, server: Server): Promise<Claim> {
  if (process.platform === 'win32') return claimPipe(dataDir, server);
  const sockets = openSocketFolder(dataDir);
  try {
    for (;;) {
      const highest = await highestNumber(sockets);
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
  await listenAt(server, sockets.address(name));
  if (sockets.owner) await chown(join(sockets.folder, name), sockets.owner.uid, sockets.owner.gid);
  const link = join(sockets.folder, `owner-${number}`);
  const linked = await symlink(name, link).then(
    () => true,
    (error: unknown) => {
      if (systemCode(error) === 'EEXIST') return false;
      throw error;
    },
  );
  if (linked && (await highestNumber(sockets)) === number && (await isThere(join(sockets.folder, name)))) {
    await removeDead(sockets, number, name);
    return true;
  }
  await close(server);
  if (linked && (await highestNumber(sockets)) !== number) await rm(link, { force: true });
  return false;
}

/** Lower numbers, and sockets of processes that were killed before they had a number. */
async function removeDead(sockets: SocketFolder, number: number, own: string): Promise<void> {
  for (const name of await readdir(sockets.folder)) {
    const match = LINK.exec(name);
    if (match && Number(match[1]) < number) await rm(join(sockets.folder, name), { force: true });
    if (!name.endsWith('.sock') || name === own) continue;
    const alive = await connectToListener(sockets.address(name)).catch(() => undefined);
    if (alive === null) await rm(join(sockets.folder, name), { force: true });
    alive?.destroy();
  }
}

async function highestNumber(sockets: SocketFolder): Promise<number> {
  const names = await readdir(sockets.folder);
  return Math.max(0, ...names.map((name) => Number(LINK.exec(name)?.[1] ?? 0)));
}

/** The link stays, pointing at nothing: see why numbers only grow above. */
function release(sockets: SocketFolder, server: Server): void {
  server.close(() => sockets.close());
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    if (server.listening) server.close(() => resolve());
    else resolve();
  });
}

/** Windows: a named pipe has one server, and is gone with it. */
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
    `The database in ${dataDir} is held by a process that does not answer: stop it.`,
  );
}
