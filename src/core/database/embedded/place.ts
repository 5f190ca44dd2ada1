import { createHash } from 'node:crypto';
import { chown, lchown, readdir, realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Log } from '../../log.ts';
import { type Account, candidateAccounts, canReach, isRoot, nobody, ownerOnDisk } from './account.ts';
import { type Binaries, completeBinaries, copyBinaries, OWN_SERVER } from './binaries.ts';
import { makeOpenFolder } from './data-dir.ts';
import { EmbeddedDatabaseError } from './embedded-database-error.ts';
import { runProgram } from './run-program.ts';
import { tellingLine } from './server-log.ts';

/** Where the cluster lies, who runs it and with which programs. */
export interface Place {
  readonly clusterDir: string;
  readonly exists: boolean;
  readonly account: Account;
  readonly binaries: Binaries;
  /** Major version of the programs, such as `18`. */
  readonly majorVersion: string;
}

type Way = Pick<Place, 'account' | 'binaries' | 'majorVersion'>;

export interface PlaceOptions {
  readonly dataDir: string;
  readonly binaries: Binaries;
  readonly namespaces: boolean;
  /** Where clusters go whose data folder no unprivileged account can enter. */
  readonly elsewhere: string;
  readonly log: Log;
}

/**
 * Decides where the cluster lies: in the data folder whenever some account that PostgreSQL accepts can work there (see
 * `candidateAccounts`), with the programs in place or copied; else, for root on a kernel without user namespaces, below
 * `elsewhere`. A cluster that exists is never passed over for a new one in another place: that throws.
 */
export async function choosePlace(options: PlaceOptions): Promise<Place> {
  const { dataDir, binaries, log } = options;
  const clusterDir = join(dataDir, 'postgres');
  const clusterOwner = await stat(clusterDir).catch(() => undefined);
  const linked = await completeBinaries(binaries);
  const other = await elsewhereFolder(options);
  const otherOwner = await stat(join(other, 'postgres')).catch(() => undefined);
  if (clusterOwner || !otherOwner) {
    const accounts = candidateAccounts(await stat(dataDir), clusterOwner);
    const usable = accounts.filter(({ kind }) => kind !== 'namespace' || options.namespaces);
    const way = await firstThatWorks(usable, dataDir, binaries, linked);
    if (way) {
      if (clusterOwner) await giveTo(way.account, clusterDir);
      return { ...way, clusterDir, exists: clusterOwner !== undefined };
    }
  }
  if (clusterOwner || !isRoot()) throw unreachable(dataDir);
  await makeOpenFolder(other);
  const way = await firstThatWorks([nobody], other, binaries, linked);
  if (!way) throw unreachable(dataDir);
  const elsewhere = join(other, 'postgres');
  if (otherOwner) await giveTo(nobody, elsewhere);
  log.warn(
    { dataDir, location: elsewhere },
    `Only root can enter ${dataDir}, and PostgreSQL does not run as root: the database lies in ${elsewhere}.`,
  );
  return { ...way, clusterDir: elsewhere, exists: otherOwner !== undefined };
}

/** The first account that can work in the folder: with the programs where they are if possible, else with a copy of them. */
async function firstThatWorks(
  accounts: Account[],
  folder: string,
  binaries: Binaries,
  linked: boolean,
): Promise<Way | undefined> {
  for (const copied of [false, true]) {
    for (const account of accounts) {
      if (!(await canReach(account, folder))) continue;
      if (!copied && !(linked && (await canReach(account, binaries.packageDir)))) continue;
      const programs = copied ? await copyBinaries(binaries, folder) : binaries;
      const majorVersion = await versionRunAs(account, programs);
      if (/^\d+$/.test(majorVersion)) return { account, binaries: programs, majorVersion };
      if (!copied) await mustRunHere(binaries);
    }
  }
  return undefined;
}

/** The programs' major version, found by running them, or what went wrong. */
async function versionRunAs(account: Account, { postgres }: Binaries): Promise<string> {
  const { output } = await runProgram(account, postgres, ['--version']);
  return /\(PostgreSQL\) (\d+)/.exec(output)?.[1] ?? output.trim();
}

/** Tells programs that cannot run at all (another C library) from an account that may not run them. */
async function mustRunHere(binaries: Binaries): Promise<void> {
  const said = await versionRunAs({ kind: 'self' }, binaries);
  if (/^\d+$/.test(said)) return;
  throw new EmbeddedDatabaseError(
    'platform_unsupported',
    `The embedded PostgreSQL does not run on this machine (${tellingLine(said)}); on Linux it needs glibc, which Alpine has not. ${OWN_SERVER}.`,
  );
}

async function elsewhereFolder({ dataDir, elsewhere }: PlaceOptions): Promise<string> {
  const hash = createHash('sha256')
    .update(await realpath(dataDir))
    .digest('hex');
  return join(elsewhere, hash.slice(0, 16));
}

/** Makes the account own the cluster. The folder itself comes last: while it is somebody else's, the work is not done. */
async function giveTo(account: Account, clusterDir: string): Promise<void> {
  const owner = ownerOnDisk(account);
  if (!owner || (await stat(clusterDir)).uid === owner.uid) return;
  for (const entry of await readdir(clusterDir, { recursive: true }))
    await lchown(join(clusterDir, entry), owner.uid, owner.gid);
  await chown(clusterDir, owner.uid, owner.gid);
}

function unreachable(dataDir: string): EmbeddedDatabaseError {
  return new EmbeddedDatabaseError(
    'data_dir_unreachable',
    `PostgreSQL does not run as root, and no other account can work in ${dataDir}: set DATA_DIR to a folder that other users can enter, such as /var/lib/groundswell.`,
  );
}
