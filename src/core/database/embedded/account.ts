import { readFileSync } from 'node:fs';
import { realpath, stat } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { dirname } from 'node:path';

/**
 * Under whose identity PostgreSQL's programs run. PostgreSQL refuses root, so root has two ways out:
 * `user` gives up root for an unprivileged account, and `namespace` stays root on disk while it is an unprivileged
 * user inside a user namespace of its own (which reaches folders that only root can enter).
 */
export type Account =
  | { readonly kind: 'self' }
  | { readonly kind: 'user'; readonly uid: number; readonly gid: number }
  | { readonly kind: 'namespace' };

/** Known on every system, and owner of nothing that matters. */
export const nobody: Account = { kind: 'user', uid: 65534, gid: 65534 };

/** True when this process is root in the sense of PostgreSQL's refusal. False on Windows. */
export function isRoot(): boolean {
  return process.geteuid?.() === 0;
}

interface FolderOwner {
  readonly uid: number;
  readonly gid: number;
}

/**
 * The identities worth trying, best first. The scheme for root: the owner of an existing cluster keeps it; a new
 * cluster goes to the owner of the data folder when that is a known unprivileged user (so that `sudo` leaves nothing
 * which that user cannot open later), else to `nobody`; a user namespace is next.
 */
export function candidateAccounts(dataDirOwner: FolderOwner, clusterOwner: FolderOwner | undefined): Account[] {
  if (!isRoot()) return hasName() ? [{ kind: 'self' }] : [{ kind: 'namespace' }, { kind: 'self' }];
  if (clusterOwner?.uid === 0) return [{ kind: 'namespace' }, nobody];
  if (clusterOwner) return [{ kind: 'user', ...clusterOwner }, { kind: 'namespace' }];
  if (dataDirOwner.uid !== 0 && isKnownUser(dataDirOwner.uid)) {
    return [{ kind: 'user', ...dataDirOwner }, nobody, { kind: 'namespace' }];
  }
  return [nobody, { kind: 'namespace' }];
}

/** Who owns, on disk, what the account writes. Undefined: leave ownership as it is. */
export function ownerOnDisk(account: Account): FolderOwner | undefined {
  if (account.kind === 'user') return { uid: account.uid, gid: account.gid };
  if (account.kind === 'namespace' && isRoot()) return { uid: 0, gid: 0 };
  return undefined;
}

/**
 * Can the account walk down to this folder? (Root inside a namespace has the rights of root's files and no more.) Looks at the mode bits of every folder on the way: asking the kernel would
 * need a program that runs as that account. An access list that says otherwise only makes us choose a namespace.
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

/** initdb refuses a user id without an entry in the password file, as containers with `--user 12345` have. */
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
