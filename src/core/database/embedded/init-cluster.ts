import { randomBytes } from 'node:crypto';
import { chmod, chown, mkdtemp, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { syncFolder } from '../../sync-folder.ts';
import { ownerOnDisk } from './account.ts';
import { DATABASE, ROLE } from './address.ts';
import { EmbeddedDatabaseError } from './embedded-database-error.ts';
import { type Cluster, killAll } from './postmaster.ts';
import { runProgram } from './run-program.ts';
import { tellingLine } from './server-log.ts';
import { initialSettings, memoryForUs } from './server-settings.ts';

const MAKING = 'postgres.making-';
const PASSWORD_FILE = 'groundswell.password';

/** Everybody gives the password. The superuser `postgres` has none, so it cannot come in by any way. */
const ACCESS_RULES = `# TYPE  DATABASE  USER  ADDRESS       METHOD
local   all       all                 scram-sha-256
host    all       all   127.0.0.1/32  scram-sha-256
host    all       all   ::1/128       scram-sha-256
`;

/**
 * Makes the cluster beside its place and moves it there when it is whole and on the disk: a folder of that name is
 * always a complete cluster. Text is UTF-8 and compared and case-folded by PostgreSQL's own Unicode tables, not by the
 * operating system's, so that a move to another machine cannot break an index. Only what a letter is, pg_trgm asks the
 * operating system: where that has UTF-8 without a language, words of every script can be looked up.
 */
export async function initCluster(cluster: Cluster): Promise<void> {
  const { clusterDir, account, binaries, durability } = cluster;
  const parent = dirname(clusterDir);
  await removeDeadAttempts(parent);
  const making = await mkdtemp(join(parent, MAKING));
  try {
    await chmod(making, 0o700);
    const owner = ownerOnDisk(account);
    if (owner) await chown(making, owner.uid, owner.gid);
    const args = ['-D', making, '--username=postgres', '--auth=reject', '--encoding=UTF8', '--locale=C'];
    args.push('--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--no-instructions');
    args.push(...initialSettings(memoryForUs()).flatMap((setting) => ['--set', setting]));
    if (durability === 'none') args.push('--no-sync');
    const withLetters = await runProgram(account, binaries.initdb, [...args, '--lc-ctype=C.UTF-8']);
    // Clears the folder when it fails. Its messages differ, so any failure is tried again without.
    if (withLetters.code !== 0) await mustSucceed(runProgram(account, binaries.initdb, args));
    const password = randomBytes(24).toString('base64url');
    await mustSucceed(
      runProgram(account, binaries.postgres, ['--single', '-j', '-D', making, 'template1'], roleAndDatabase(password)),
    );
    await writeDurably(join(making, PASSWORD_FILE), `${password}\n`, owner);
    await writeDurably(join(making, 'pg_hba.conf'), ACCESS_RULES, owner);
    await syncFolder(making);
    await rename(making, clusterDir);
    await syncFolder(parent);
  } catch (error) {
    await rm(making, { recursive: true, force: true });
    throw error;
  }
}

/** The password of the product's role, which only the cluster's owner (and root) can read. */
export async function readPassword(clusterDir: string): Promise<string> {
  return (await readFile(join(clusterDir, PASSWORD_FILE), 'utf8')).trim();
}

/** The major version that made the cluster, such as `18`. */
export async function clusterVersion(clusterDir: string): Promise<string> {
  return (await readFile(join(clusterDir, 'PG_VERSION'), 'utf8')).trim();
}

/** Single-user statements end at an empty line (`-j`). The product's role owns its database and is no superuser. */
function roleAndDatabase(password: string): string {
  return [
    `CREATE ROLE ${ROLE} LOGIN CREATEDB PASSWORD '${password}';`,
    `GRANT pg_monitor TO ${ROLE};`,
    `CREATE DATABASE ${DATABASE} OWNER ${ROLE};`,
    '',
  ].join('\n\n');
}

/** Folders of attempts whose process was killed, together with an initdb that may have outlived it. */
async function removeDeadAttempts(parent: string): Promise<void> {
  for (const name of await readdir(parent)) {
    if (!name.startsWith(MAKING)) continue;
    await killAll(join(parent, name));
    await rm(join(parent, name), { recursive: true, force: true, maxRetries: 5 });
  }
}

async function mustSucceed(run: ReturnType<typeof runProgram>): Promise<void> {
  const { code, output } = await run;
  if (code === 0 && !/^.*\b(ERROR|FATAL|PANIC): /m.test(output)) return;
  throw new EmbeddedDatabaseError('start_failed', `The database could not be made: ${tellingLine(output)}`);
}

async function writeDurably(
  path: string,
  text: string,
  owner: { uid: number; gid: number } | undefined,
): Promise<void> {
  const file = await open(path, 'w', 0o600);
  try {
    await file.writeFile(text);
    if (owner) await file.chown(owner.uid, owner.gid);
    await file.sync();
  } finally {
    await file.close();
  }
}
