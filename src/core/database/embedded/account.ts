import {
  closeSync,
  constants,
  fchownSync,
  fstatSync,
  lchownSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
} from 'node:fs';
import { realpath, stat } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { dirname, join } from 'node:path';

/**
 * The identity that runs PostgreSQL's programs. PostgreSQL refuses to run as root, so root has two options: `user`
 * switches to an unprivileged account; `namespace` stays root on disk but is an unprivileged user inside its own user
 * namespace, so it can use folders that only root can enter.
 */
export type Account =
  | { readonly kind: 'self' }
  | { readonly kind: 'user'; readonly uid: number; readonly gid: number }
  | { readonly kind: 'namespace' };

/** The account `nobody`, with its id on Linux. It owns no important files. */
export const nobody: Account = { kind: 'user', uid: 65534, gid: 65534 };

/** Returns whether this process is root. False on Windows. */
export function isRoot(): boolean {
  return process.geteuid?.() === 0;
}

export interface FolderOwner {
  readonly uid: number;
  readonly gid: number;
}

/**
 * Returns the accounts to try, best first. For root, an existing cluster keeps its owner if possible, except that
 * `nobody` takes over root's cluster in another user's folder. A new cluster goes to the owner of the data folder if
 * that is a known unprivileged user, so `sudo` creates nothing that this user cannot open later. Otherwise, `nobody` is
 * tried before a user namespace.
 */
export function candidateAccounts(dataDirOwner: FolderOwner, clusterOwner: FolderOwner | undefined): Account[] {
  // initdb refuses to run under an id without a name. In a user namespace, the process has an id with a name.
  if (!isRoot()) return hasName() ? [{ kind: 'self' }] : [{ kind: 'namespace' }, { kind: 'self' }];
  const user = (owner: FolderOwner): Account => ({ kind: 'user', uid: owner.uid, gid: owner.gid });
  // In a folder that another user can change, a `namespace` account, which is root on disk, could be tricked into
  // acting for that user.
  if (dataDirOwner.uid !== 0 && isKnownUser(dataDirOwner.uid)) {
    if (clusterOwner && clusterOwner.uid !== 0) return [user(clusterOwner)];
    return clusterOwner ? [nobody] : [user(dataDirOwner), nobody];
  }
  if (clusterOwner?.uid === 0) return [{ kind: 'namespace' }, nobody];
  if (clusterOwner) return [user(clusterOwner), { kind: 'namespace' }];
  return [nobody, { kind: 'namespace' }];
}

/** Returns the owner of files that the account writes; undefined if their ownership is not changed. */
export function ownerOnDisk(account: Account): FolderOwner | undefined {
  if (account.kind === 'user') return { uid: account.uid, gid: account.gid };
  if (account.kind === 'namespace' && isRoot()) return { uid: 0, gid: 0 };
  return undefined;
}

/**
 * Runs work with the rights of a folder's owner instead of root's, so a link planted in the folder gives access to
 * nothing that this owner cannot access. The work must be synchronous, since the identity applies to the whole process.
 */
export function runAsOwner<Result>(owner: FolderOwner | undefined, work: () => Result): Result {
  const { seteuid, setegid, setgroups, getgroups } = process;
  if (!owner || owner.uid === 0 || !isRoot() || !seteuid || !setegid || !setgroups || !getgroups) return work();
  const groups = getgroups();
  setgroups([]);
  setegid(owner.gid);
  seteuid(owner.uid);
  try {
    return work();
  } finally {
    seteuid(0);
    setegid(0);
    setgroups(groups);
  }
}

/** Opens a folder. Fails if it is a symbolic link, with which another user could redirect root to another folder. */
export function openRealFolder(folder: string): number {
  return openSync(folder, constants.O_RDONLY | (constants.O_DIRECTORY ?? 0) | (constants.O_NOFOLLOW ?? 0));
}

/**
 * Opens a folder with `openRealFolder`, and passes a path to `work`. On Linux, the path leads to the opened folder even
 * if a link replaces the folder in the meantime.
 */
export function withRealFolder<Result>(folder: string, work: (path: string, handle: number) => Result): Result {
  const handle = openRealFolder(folder);
  try {
    return work(process.platform === 'linux' ? `/proc/self/fd/${handle}` : folder, handle);
  } finally {
    closeSync(handle);
  }
}

/**
 * Deletes a folder. Its contents are deleted with the rights of the folder's owner, and the folder itself with the
 * rights of its parent's owner.
 */
export function removeFolder(folder: string): void {
  const found = lstatSync(folder, { throwIfNoEntry: false });
  if (found?.isDirectory()) {
    withRealFolder(folder, (path, handle) =>
      runAsOwner(fstatSync(handle), () => {
        for (const name of readdirSync(path)) rmSync(join(path, name), { recursive: true, force: true, maxRetries: 5 });
      }),
    );
  }
  runAsOwner(statSync(dirname(folder)), () => rmSync(folder, { recursive: true, force: true }));
}

/**
 * Changes the owner of a folder and its contents. The folder itself comes last, so its owner shows whether the change
 * is complete.
 */
export function chownFolder(folder: string, owner: FolderOwner): void {
  withRealFolder(folder, (path, handle) => {
    for (const entry of readdirSync(path, { withFileTypes: true })) {
      if (entry.isDirectory()) chownFolder(join(path, entry.name), owner);
      else lchownSync(join(path, entry.name), owner.uid, owner.gid);
    }
    fchownSync(handle, owner.uid, owner.gid);
  });
}

/**
 * Returns whether the account can reach this folder, according to the mode bits of every folder on the path (asking the
 * kernel would require running a program as that account). Ignores access control lists. In a namespace, root cannot
 * override mode bits, so they apply to root, too.
 */
export async function canReach(account: Account, folder: string): Promise<boolean> {
  const identity = ownerOnDisk(account);
  if (!identity) return true;
  let current = await realpath(folder);
  for (;;) {
    const { mode, uid, gid } = await stat(current);
    const bit = uid === identity.uid ? 0o100 : gid === identity.gid ? 0o010 : 0o001;
    if ((mode & bit) === 0) return false;
    const parent = dirname(current);
    if (parent === current) return true;
    current = parent;
  }
}

/**
 * Returns whether the user id has an entry in the password file. Without one, as in containers with `--user 12345`,
 * initdb refuses to run.
 */
function hasName(): boolean {
  try {
    userInfo();
    return true;
  } catch {
    return false;
  }
}

function isKnownUser(uid: number): boolean {
  try {
    return readFileSync('/etc/passwd', 'utf8')
      .split('\n')
      .some((line) => line.split(':')[2] === String(uid));
  } catch {
    return false;
  }
}
