import { open, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Account } from './account.ts';
import { ownerOnDisk } from './account.ts';
import { type Address, isListening, removeShortFolder } from './address.ts';
import type { Binaries } from './binaries.ts';
import { EmbeddedDatabaseError } from './embedded-database-error.ts';
import { readPostmasterFile, runningPostmaster } from './postmaster-file.ts';
import { belongsToCluster, processesOf, runsProgram } from './process-table.ts';
import { startProgram } from './run-program.ts';
import { lastServerLine, START_LOG } from './server-log.ts';
import { commandLine, type Durability } from './server-settings.ts';

export interface Postmaster {
  readonly pid: number;
  readonly address: Address;
  /** Settles when the process is gone, for whatever reason; never rejects. */
  readonly gone: Promise<void>;
}

export interface Cluster {
  readonly clusterDir: string;
  readonly account: Account;
  readonly binaries: Binaries;
  readonly durability: Durability;
}

const POLL_MS = 10;
const WATCH_MS = 200;
const FAST_STOP_MS = 60_000;
const IMMEDIATE_STOP_MS = 10_000;

/**
 * Starts the postmaster of a cluster that nobody runs, and waits until it accepts connections, as long as a recovery
 * takes. Throws `start_failed` with PostgreSQL's own last line.
 */
export async function startPostmaster(cluster: Cluster, address: Address): Promise<Postmaster> {
  const { clusterDir, account, binaries } = cluster;
  // A file and not a pipe: the postmaster may outlive this process, and would die of writing into a broken pipe.
  const output = await open(join(clusterDir, START_LOG), 'w', 0o600);
  const owner = ownerOnDisk(account);
  if (owner) await output.chown(owner.uid, owner.gid);
  const args = commandLine(clusterDir, address, cluster.durability);
  const child = startProgram(account, binaries.postgres, args, ['ignore', output.fd, output.fd]);
  child.unref();
  let ended = false;
  const gone = new Promise<void>((resolve) => {
    const end = () => {
      ended = true;
      resolve();
    };
    child.on('error', end);
    child.on('exit', end);
  });
  await output.close();
  for (;;) {
    if (ended) throw startFailed(await lastServerLine(clusterDir));
    const file = await readPostmasterFile(clusterDir);
    if (file && file.pid === child.pid && file.status === 'ready') return { pid: file.pid, address, gone };
    await delay(POLL_MS);
  }
}

/**
 * The postmaster that an owner left running, if there is one that can be used: its owner was killed, or handed it over.
 * One that is going down is waited for; one that cannot be reached, or runs programs that npm has replaced, is stopped.
 * Those are then undefined.
 */
export async function adoptPostmaster({ clusterDir, binaries }: Cluster): Promise<Postmaster | undefined> {
  for (;;) {
    const file = await runningPostmaster(clusterDir);
    if (!file) return undefined;
    if (file.status === 'ready') {
      const address: Address = { socketDir: file.socketDir === '' ? undefined : file.socketDir, port: file.port };
      const usable = (await runsProgram(file.pid, binaries.postgres)) && (await isListening(address));
      if (usable) return { pid: file.pid, address, gone: watch(file.pid, clusterDir) };
      await stopPostmaster(file.pid, clusterDir);
      return undefined;
    }
    await delay(POLL_MS);
  }
}

/**
 * Removes what a dead postmaster left: its backends that still hold the shared memory (or itself, killed so early that it
 * had not written its file), and its lock files, which would stop the next one where their process id is some other
 * program's by now. Only for the owner of the cluster, and only
 * when no postmaster runs.
 */
export async function clearDeadPostmaster(clusterDir: string): Promise<void> {
  const file = await readPostmasterFile(clusterDir);
  await killAll(clusterDir);
  await removeShortFolder(file?.socketDir);
  const sockets = (await readdir(clusterDir)).filter((name) => name.startsWith('.s.PGSQL.'));
  for (const name of ['postmaster.pid', ...sockets]) {
    await rm(join(clusterDir, name), { force: true });
  }
}

/** Ends every PostgreSQL process at work on a folder, at once. For those that have no postmaster any more. */
export async function killAll(folder: string): Promise<void> {
  for (;;) {
    const pids = await processesOf(folder);
    if (pids.length === 0) return;
    for (const pid of pids) signal(pid, 'SIGKILL');
    await delay(POLL_MS);
  }
}

/**
 * Stops a postmaster in order: sessions are ended, everything is written (PostgreSQL's fast mode). One that does not
 * come to an end is stopped the hard way, which costs a recovery at the next start but no data.
 */
export async function stopPostmaster(pid: number, clusterDir: string): Promise<void> {
  const steps: [NodeJS.Signals, number][] = [
    ['SIGINT', FAST_STOP_MS],
    ['SIGQUIT', IMMEDIATE_STOP_MS],
    ['SIGKILL', IMMEDIATE_STOP_MS],
  ];
  for (const [name, deadlineMs] of steps) {
    if (!(await belongsToCluster(pid, clusterDir))) return;
    signal(pid, name);
    for (const end = Date.now() + deadlineMs; Date.now() < end; await delay(POLL_MS)) {
      if (!(await belongsToCluster(pid, clusterDir))) return;
    }
  }
}

/** A postmaster that is not our child sends no exit event, so it is looked at. */
async function watch(pid: number, clusterDir: string): Promise<void> {
  while (await belongsToCluster(pid, clusterDir)) await delay(WATCH_MS, undefined, { ref: false });
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It ended by itself between the look and the signal, which is what the signal was for.
  }
}

function startFailed(reason: string): EmbeddedDatabaseError {
  return new EmbeddedDatabaseError('start_failed', `The embedded PostgreSQL did not start: ${reason}`);
}
