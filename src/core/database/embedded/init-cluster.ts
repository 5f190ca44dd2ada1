import { randomBytes } from 'node:crypto';
import { closeSync, fchownSync, fsyncSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, readdir, rename } from 'node:fs/promises';
import { dirname, join, sep } from 'node:path';
import { syncFolder } from '../../file-system.ts';
import { type Account, ownerOnDisk, removeFolder, runAsOwner, withRealFolder } from './account.ts';
import type { Credentials } from './address.ts';
import { type Binaries, copyBinaries } from './binaries.ts';
import { EmbeddedDatabaseError } from './embedded-database-error.ts';
import { type Cluster, killAll } from './postmaster.ts';
import { runProgram } from './processes.ts';
import { errorLine } from './server-log.ts';
import { availableMemoryBytes, initialSettings } from './server-settings.ts';

const UNFINISHED_PREFIX = 'postgres.making-';
const passwordFile = (name: string) => `${name}.password`;

/** Every role needs a password. The superuser `postgres` has none, so it cannot log in. */
const ACCESS_RULES = `# TYPE  DATABASE  USER  ADDRESS       METHOD
local   all       all                 scram-sha-256
host    all       all   127.0.0.1/32  scram-sha-256
host    all       all   ::1/128       scram-sha-256
`;

/**
 * Creates the cluster in a temporary folder next to its final one, and renames the folder once the cluster is complete
 * and synced to disk, so a folder with the final name is always complete.
 */
export async function initCluster(cluster: Cluster): Promise<void> {
  const { name, clusterDir, account, durability } = cluster;
  const parent = dirname(clusterDir);
  const binaries = await binariesForShell(cluster.binaries, parent);
  const owner = ownerOnDisk(account);
  await removeUnfinishedClusters(parent);
  const unfinished = await mkdtemp(join(parent, UNFINISHED_PREFIX));
  try {
    if (owner) withRealFolder(unfinished, (_, handle) => fchownSync(handle, owner.uid, owner.gid));
    const args = ['-D', unfinished, '--username=postgres', '--auth=reject', '--encoding=UTF8', '--locale=C'];
    // PostgreSQL itself compares and case-folds text, so moving to another machine cannot break an index.
    args.push('--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--no-instructions');
    args.push(...initialSettings(availableMemoryBytes()).flatMap((setting) => ['--set', setting]));
    if (durability === 'none') args.push('--no-sync');
    // Only pg_trgm uses the operating system's classification of letters. With this locale, it finds words in every
    // script.
    const firstRun = await runProgram(account, binaries.initdb, [...args, '--lc-ctype=C.UTF-8']);
    // The locale may be missing, and messages about that vary, so any failure is retried without the locale. A failed
    // initdb cleans up after itself.
    if (firstRun.code !== 0) await requireSuccess(runProgram(account, binaries.initdb, args));
    const password = randomBytes(24).toString('base64url');
    await requireSuccess(
      runProgram(
        account,
        binaries.postgres,
        ['--single', '-j', '-D', unfinished, 'template1'],
        roleAndDatabase({ name, password }),
      ),
    );
    runAsOwner(owner, () => {
      writeDurably(join(unfinished, passwordFile(name)), `${password}\n`);
      writeDurably(join(unfinished, 'pg_hba.conf'), ACCESS_RULES);
    });
    await syncFolder(unfinished);
    await rename(unfinished, clusterDir);
    await syncFolder(parent);
  } catch (error) {
    removeFolder(unfinished);
    throw error;
  }
}

/** The characters that a shell interprets even inside double quotes. */
const SHELL_CHARACTERS = /["$`\\]/;

/**
 * Returns programs whose path initdb can pass to a shell; if necessary, a copy in `folder`.
 * @throws EmbeddedDatabaseError `data_dir_refused` if the path of that copy would not work either.
 */
async function binariesForShell(binaries: Binaries, folder: string): Promise<Binaries> {
  const characterIn = (path: string) => SHELL_CHARACTERS.exec(path.replaceAll(sep, '/'))?.[0];
  if (characterIn(binaries.initdb) === undefined) return binaries;
  const character = characterIn(folder);
  if (character === undefined) return copyBinaries(binaries, folder);
  throw new EmbeddedDatabaseError(
    'data_dir_refused',
    (terms) =>
      `Cannot create the embedded database in ${folder}, because PostgreSQL's initdb does not support paths with ${character}. ` +
      `Set ${terms.dataDir} to a folder whose path contains no ", $, \` or \\.`,
  );
}

/** Reads the role's password, which only the cluster's owner (and root) can read. */
export function readCredentials({ name, clusterDir, account }: Cluster): Credentials {
  return { name, password: readAs(account, join(clusterDir, passwordFile(name))) };
}

/** Reads the major version of PostgreSQL that created the cluster, such as `18`. */
export function clusterVersion({ clusterDir, account }: Pick<Cluster, 'clusterDir' | 'account'>): string {
  return readAs(account, join(clusterDir, 'PG_VERSION'));
}

function readAs(account: Account, path: string): string {
  return runAsOwner(ownerOnDisk(account), () => readFileSync(path, 'utf8')).trim();
}

/**
 * Returns the statements that create the role and the database, each ended by an empty line for single-user mode
 * (`-j`). The role owns its database and is not a superuser.
 */
function roleAndDatabase({ name, password }: Credentials): string {
  return [
    `CREATE ROLE ${name} LOGIN CREATEDB PASSWORD '${password}';`,
    `GRANT pg_monitor TO ${name};`,
    `CREATE DATABASE ${name} OWNER ${name};`,
    '',
  ].join('\n\n');
}

/** Removes the folders of killed attempts, and kills an initdb that outlived such an attempt. */
async function removeUnfinishedClusters(parent: string): Promise<void> {
  for (const name of await readdir(parent)) {
    if (!name.startsWith(UNFINISHED_PREFIX)) continue;
    await killAll(join(parent, name));
    removeFolder(join(parent, name));
  }
}

async function requireSuccess(run: ReturnType<typeof runProgram>): Promise<void> {
  const { code, output } = await run;
  if (code === 0 && !/^.*\b(ERROR|FATAL|PANIC): /m.test(output)) return;
  throw new EmbeddedDatabaseError('start_failed', `Cannot create the embedded database: ${errorLine(output)}`);
}

function writeDurably(path: string, text: string): void {
  const file = openSync(path, 'w', 0o600);
  try {
    writeFileSync(file, text);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
