import { createHash } from 'node:crypto';
import { chown, lchown, mkdir, readdir, realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Log } from '../../log.ts';
import { type Account, candidateAccounts, canReach, isRoot, NOBODY_ID, ownerOnDisk } from './account.ts';
import { type Binaries, completeBinaries, copyBinaries } from './binaries.ts';
import { EmbeddedDatabaseError } from './embedded-database-error.ts';
import { runProgram } from './run-program.ts';

/** Where the cluster lies, who runs it and with which programs. */
export interface Place {
  readonly clusterDir: string;
  readonly exists: boolean;
  readonly account: Account;
  readonly binaries: Binaries;
  /** Major version of the programs, such as `18`. */
  readonly majorVersion: string;
}

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
  const accounts = candidateAccounts(await stat(dataDir), clusterOwner).filter(
    (one) => one.kind !== 'namespace' || options.namespaces,
  );
  const other = await elsewhereFolder(options);
  const otherOwner = await stat(join(other, 'postgres')).catch(() => undefined);
  let complaint = '';
  if (clusterOwner || !otherOwner) {
    for (const copies of [false, true]) {
      for (const account of accounts) {
        if (!(await canReach(account, dataDir))) continue;
        if (!copies && (!linked || !(await canReach(account, binaries.packageDir)))) continue;
        const programs = copies ? await copyBinaries(binaries, dataDir) : binaries;
        const version = await runProgram(account, programs.postgres, ['--version']);
        const majorVersion = /\(PostgreSQL\) (\d+)/.exec(version.output)?.[1];
        if (!majorVersion) {
          complaint = version.output.trim();
          continue;
        }
        if (clusterOwner) await giveTo(account, clusterDir);
        return { clusterDir, exists: clusterOwner !== undefined, account, binaries: programs, majorVersion };
      }
    }
  }
  if (clusterOwner || !isRoot()) throw unreachable(dataDir, complaint);
  return placeElsewhere(other, otherOwner !== undefined, options, log);
}

async function placeElsewhere(folder: string, exists: boolean, options: PlaceOptions, log: Log): Promise<Place> {
  await mkdir(folder, { recursive: true, mode: 0o755 });
  const account: Account = { kind: 'user', uid: NOBODY_ID, gid: NOBODY_ID };
  const inPlace = (await completeBinaries(options.binaries)) && (await canReach(account, options.binaries.packageDir));
  const programs = inPlace ? options.binaries : await copyBinaries(options.binaries, folder);
  const version = await runProgram(account, programs.postgres, ['--version']);
  const majorVersion = /\(PostgreSQL\) (\d+)/.exec(version.output)?.[1];
  if (!majorVersion || !(await canReach(account, folder))) throw unreachable(options.dataDir, version.output.trim());
  const clusterDir = join(folder, 'postgres');
  if (exists) await giveTo(account, clusterDir);
  log.warn(
    { dataDir: options.dataDir, location: clusterDir },
    `Only root can enter ${options.dataDir}, and PostgreSQL does not run as root: the database lies in ${clusterDir}.`,
  );
  return { clusterDir, exists, account, binaries: programs, majorVersion };
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

function unreachable(dataDir: string, complaint: string): EmbeddedDatabaseError {
  const said = complaint === '' ? '' : ` (${complaint})`;
  return new EmbeddedDatabaseError(
    'data_dir_unreachable',
    `PostgreSQL cannot run in ${dataDir}${said}: set DATA_DIR to a folder that other users can enter, such as /var/lib/groundswell.`,
  );
}
