import { randomUUID } from 'node:crypto';
import { lstat, readFile, readlink, realpath, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { makeTraversableFolder } from '../../file-system.ts';
import type { Log } from '../../runtime.ts';
import {
  type Account,
  candidateAccounts,
  canReach,
  chownFolder,
  type FolderOwner,
  isRoot,
  nobody,
  ownerOnDisk,
} from './account.ts';
import { type Binaries, completeBinaries, copyBinaries } from './binaries.ts';
import { EmbeddedDatabaseError, type OperatorTerms } from './embedded-database-error.ts';
import { runProgram } from './processes.ts';
import { errorLine } from './server-log.ts';

/** Where the cluster is, which account runs it, and which PostgreSQL programs it uses. */
export interface ClusterLocation {
  readonly clusterDir: string;
  readonly exists: boolean;
  readonly account: Account;
  readonly binaries: Binaries;
  /** Major version of the programs, such as `18`. */
  readonly majorVersion: string;
}

type RunConfiguration = Pick<ClusterLocation, 'account' | 'binaries' | 'majorVersion'>;

interface LocationOptions {
  readonly dataDir: string;
  readonly binaries: Binaries;
  readonly namespaces: boolean;
  /** The parent folder of clusters whose data folder no unprivileged account can enter. */
  readonly fallbackFolder: string;
  readonly log: Log;
}

/**
 * Chooses where the cluster is stored. If an account that PostgreSQL accepts can work in the data folder (see
 * `candidateAccounts`), the cluster is stored there, and the programs are copied if that account cannot run them in
 * place. Otherwise, root stores the cluster below `fallbackFolder`, where it stays. A link in the data folder leads to
 * the cluster, even after the data folder was moved.
 * @throws EmbeddedDatabaseError if no location works, or if an existing cluster cannot be reached, because a second
 * cluster must not be created.
 */
export async function chooseLocation(options: LocationOptions): Promise<ClusterLocation> {
  const { dataDir, binaries } = options;
  const clusterDir = join(dataDir, 'postgres');
  const linked = await completeBinaries(binaries);
  const fallback = await linkedFallback(options);
  if (fallback !== undefined) return openFallback(fallback, linked, options);
  const dataDirOwner = await stat(dataDir);
  const clusterOwner = await ownerOf(clusterDir, dataDirOwner);
  const accounts = candidateAccounts(dataDirOwner, clusterOwner);
  const usable = accounts.filter(({ kind }) => kind !== 'namespace' || options.namespaces);
  const configuration = await findWorkingConfiguration(usable, dataDir, binaries, linked);
  if (configuration) {
    if (clusterOwner) await chownCluster(configuration.account, clusterDir);
    return { ...configuration, clusterDir, exists: clusterOwner !== undefined };
  }
  if (clusterOwner || !isRoot()) throw unreachable(options);
  const created = join(options.fallbackFolder, randomUUID());
  await makeTraversableFolder(created);
  try {
    const location = await openFallback(created, linked, options);
    await symlink(location.clusterDir, clusterDir);
    return location;
  } catch (error) {
    await rm(created, { recursive: true });
    throw error;
  }
}

/** The file next to a cluster that names the cluster's data folder. */
const RECORD = 'data-folder';

/**
 * Returns the folder below `fallbackFolder` that has the cluster of this data folder, if any. Root follows a link that
 * root created. Another user's link may lead to another site's cluster, so root follows it only if the folder's record
 * names this data folder. Such a link may be root's own, if `chown -R` changed its owner.
 */
async function linkedFallback({ dataDir, fallbackFolder }: LocationOptions): Promise<string | undefined> {
  const link = join(dataDir, 'postgres');
  const found = await lstat(link).catch(() => undefined);
  if (!isRoot() || !found?.isSymbolicLink()) return undefined;
  const folder = dirname(await readlink(link));
  if (dirname(folder) !== fallbackFolder) return undefined;
  return found.uid === 0 || (await isSameFolder(await recordedDataDir(folder), dataDir)) ? folder : undefined;
}

/** Returns the data folder that last used the cluster in the folder `fallback`. Only root can write this record. */
async function recordedDataDir(fallback: string): Promise<string | undefined> {
  return readFile(join(fallback, RECORD), 'utf8').catch(() => undefined);
}

async function openFallback(fallback: string, linked: boolean, options: LocationOptions): Promise<ClusterLocation> {
  const { dataDir, binaries, log } = options;
  await requireOnlyDataDir(fallback, options);
  const configuration = await findWorkingConfiguration([nobody], fallback, binaries, linked);
  if (!configuration) throw unreachable(options);
  const clusterDir = join(fallback, 'postgres');
  const exists = (await stat(clusterDir).catch(() => undefined)) !== undefined;
  if (exists) await chownCluster(nobody, clusterDir);
  log.warn(
    { dataDir, location: clusterDir },
    `The database is in ${clusterDir}: only root could enter ${dataDir} when the database was created, and PostgreSQL does not run as root.`,
  );
  return { ...configuration, clusterDir, exists };
}

/**
 * Checks that the folder exists and that no other data folder uses it, such as the original of a copied data folder.
 * Then records this data folder.
 * @throws EmbeddedDatabaseError `data_dir_refused`.
 */
async function requireOnlyDataDir(fallback: string, options: LocationOptions): Promise<void> {
  const { dataDir } = options;
  const link = join(dataDir, 'postgres');
  if (!(await stat(fallback).catch(() => undefined)))
    throw refused(
      `${link} links to the database in ${fallback}, which does not exist: move that folder, too, or delete the link to create an empty database.`,
    );
  const other = (await recordedDataDir(fallback)) ?? dataDir;
  const isMoved = (await linkedFallback({ ...options, dataDir: other })) !== fallback;
  if (!isMoved && !(await isSameFolder(other, dataDir)))
    throw refused(
      `${dataDir} is a copy of ${other}, and both link to the database in ${fallback}: delete the link ${join(other, 'postgres')} to use this folder instead, or ${link} to create an empty database.`,
    );
  await writeFile(join(fallback, RECORD), dataDir);
}

/** Returns whether two paths lead to the same folder, for example through a bind mount. */
async function isSameFolder(one: string | undefined, other: string): Promise<boolean> {
  if (one === undefined) return false;
  const [first, second] = await Promise.all([one, other].map((path) => stat(path).catch(() => undefined)));
  return first !== undefined && first.dev === second?.dev && first.ino === second.ino;
}

/**
 * Finds the first account that can work in the folder, with the programs in place if possible, otherwise with a copy.
 */
async function findWorkingConfiguration(
  accounts: Account[],
  folder: string,
  binaries: Binaries,
  linked: boolean,
): Promise<RunConfiguration | undefined> {
  for (const copied of [false, true]) {
    for (const account of accounts) {
      if (!(await canReach(account, folder))) continue;
      if (!copied && !(linked && (await canReach(account, binaries.packageDir)))) continue;
      const programs = copied ? await copyBinaries(binaries, folder) : binaries;
      const majorVersion = await versionRunAs(account, programs);
      if (/^\d+$/.test(majorVersion)) return { account, binaries: programs, majorVersion };
      if (!copied) await requireRunnable(binaries);
    }
  }
  return undefined;
}

/** Runs `postgres --version`. @returns the major version, or the output if the program cannot run. */
async function versionRunAs(account: Account, { postgres }: Binaries): Promise<string> {
  const { output } = await runProgram(account, postgres, ['--version']);
  return /\(PostgreSQL\) (\d+)/.exec(output)?.[1] ?? output.trim();
}

/**
 * Checks that this process can run the programs, to distinguish programs for another C library from an account that may
 * not run them.
 * @throws EmbeddedDatabaseError `platform_unsupported`.
 */
async function requireRunnable(binaries: Binaries): Promise<void> {
  const output = await versionRunAs({ kind: 'self' }, binaries);
  if (/^\d+$/.test(output)) return;
  throw new EmbeddedDatabaseError(
    'platform_unsupported',
    (terms) =>
      `The embedded PostgreSQL does not run on this machine (${errorLine(output)}); on Linux it needs glibc, which Alpine does not have. ${terms.ownServer}`,
  );
}

/**
 * Returns the owner of the cluster's folder, if it exists. Root follows a link only in its own folders: elsewhere, the
 * folder's owner may have pointed the link anywhere.
 * @throws EmbeddedDatabaseError `data_dir_refused`.
 */
async function ownerOf(clusterDir: string, folderOwner: FolderOwner): Promise<FolderOwner | undefined> {
  const found = await lstat(clusterDir).catch(() => undefined);
  if (!found?.isSymbolicLink()) return found;
  if (!isRoot() || folderOwner.uid === 0) return stat(clusterDir);
  throw new EmbeddedDatabaseError(
    'data_dir_refused',
    `${clusterDir} is a symbolic link in a folder owned by user id ${folderOwner.uid}, and root must not follow it: ` +
      `run this program as that user, or make root the owner of ${dirname(clusterDir)} and the link.`,
  );
}

async function chownCluster(account: Account, clusterDir: string): Promise<void> {
  const owner = ownerOnDisk(account);
  const real = await realpath(clusterDir);
  if (owner && (await stat(real)).uid !== owner.uid) chownFolder(real, owner);
}

function unreachable({ dataDir, fallbackFolder }: LocationOptions): EmbeddedDatabaseError {
  return new EmbeddedDatabaseError(
    'data_dir_unreachable',
    (terms) =>
      `No account that PostgreSQL accepts can work in ${dataDir} (PostgreSQL does not run as root): set ${terms.dataDir} to a folder that other users can enter, such as ${fallbackFolder}.`,
  );
}

/** The properties of the host on which the embedded database depends. Tests simulate other hosts. */
export interface HostEnvironment {
  readonly platform: string;
  readonly arch: string;
  /** Whether to try user namespaces, which the system may still refuse. */
  readonly namespaces: boolean;
  readonly unixSockets: boolean;
  /**
   * The parent of folders for persistent state, such as /var/lib. Clusters whose data folder only root can enter are
   * stored below it.
   */
  readonly stateFolder: string;
  /** PostgreSQL's programs; by default, those that npm installed. */
  readonly binaries?: Binaries;
}

export const thisHost: HostEnvironment = {
  platform: process.platform,
  arch: process.arch,
  namespaces: process.platform === 'linux',
  unixSockets: process.platform !== 'win32',
  stateFolder: '/var/lib',
};

/** PostgreSQL accepts a folder that only its owner can access, or that its group can also read. */
const ACCEPTED_MODES = [0o700, 0o750];

/**
 * Performs PostgreSQL's own checks of a cluster's folder, but with messages that tell the operator what to do.
 * @throws EmbeddedDatabaseError `data_dir_refused`.
 */
export async function checkClusterPermissions({
  clusterDir,
  account,
}: {
  clusterDir: string;
  account: Account;
}): Promise<void> {
  // Windows has neither numeric owners nor modes.
  const self = process.geteuid?.();
  if (self === undefined) return;
  const { uid, mode } = await stat(clusterDir);
  // The advice below names the real path, because `chown -R` does not follow links.
  const real = await realpath(clusterDir);
  // Checked only for `self`, because root gives the folder to the account that runs PostgreSQL.
  if (account.kind === 'self' && uid !== self) {
    throw refused(
      (terms) =>
        `The database in ${clusterDir} belongs to user id ${uid}, but this process runs as user id ${self}: ` +
        `run it as that user, change the folder's owner (as root: \`chown -R ${self} ${real}\`), or set ${terms.dataDir} to another folder.`,
    );
  }
  const permissions = mode & 0o777;
  if (ACCEPTED_MODES.includes(permissions)) return;
  throw refused(
    `The database in ${clusterDir} has the mode ${permissions.toString(8)}, and PostgreSQL requires a folder that only its owner can access: ` +
      `run \`chmod 700 ${clusterDir}\`.`,
  );
}

function refused(message: string | ((terms: OperatorTerms) => string)): EmbeddedDatabaseError {
  return new EmbeddedDatabaseError('data_dir_refused', message);
}
