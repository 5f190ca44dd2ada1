import { closeSync, openSync, readdirSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { systemCode } from '../../file-system.ts';
import { type Account, ownerOnDisk, runAsOwner } from './account.ts';
import {
  type Address,
  type Credentials,
  fitsSocket,
  probeServer,
  removeShortFolder,
  restoreShortFolder,
} from './address.ts';
import type { Binaries } from './binaries.ts';
import { EmbeddedDatabaseError } from './embedded-database-error.ts';
import { connectToListener } from './owner-claim.ts';
import { belongsToCluster, processesOf, runsProgram, startProgram } from './processes.ts';
import { lastServerLine, START_LOG } from './server-log.ts';
import { commandLine, type Durability } from './server-settings.ts';

/** The contents of `postmaster.pid`, which a postmaster writes into its cluster. */
interface PostmasterFile {
  readonly pid: number;
  readonly port: number;
  /** The folder of the postmaster's Unix socket; empty if there is none. */
  readonly socketDir: string;
  readonly status: 'starting' | 'ready' | 'stopping' | 'unknown';
}

/**
 * Reads `postmaster.pid`; undefined if the file is missing or incomplete. The process may be dead. Any other failure to
 * read the file, such as too many open files, is thrown, because a server may be running.
 */
export async function readPostmasterFile(clusterDir: string): Promise<PostmasterFile | undefined> {
  const text = await readFile(join(clusterDir, 'postmaster.pid'), 'utf8').catch((error: unknown) => {
    if (['ENOENT', 'ENOTDIR'].includes(systemCode(error) ?? '')) return '';
    throw error;
  });
  const lines = text.split('\n').map((line) => line.trim());
  const pid = Math.abs(Number.parseInt(lines[0] ?? '', 10));
  if (!Number.isInteger(pid) || pid === 0) return undefined;
  const word = lines[7] ?? '';
  const status = word === 'starting' || word === 'ready' || word === 'stopping' ? word : 'unknown';
  return { pid, port: Number.parseInt(lines[3] ?? '', 10) || 0, socketDir: lines[4] ?? '', status };
}

/**
 * Returns the postmaster that runs on this cluster, if any. The file of a dead postmaster does not count, even if its
 * process id was reused.
 */
export async function runningPostmaster(clusterDir: string): Promise<PostmasterFile | undefined> {
  const file = await readPostmasterFile(clusterDir);
  return file && (await belongsToCluster(file.pid, clusterDir)) ? file : undefined;
}

export interface Postmaster {
  readonly pid: number;
  readonly address: Address;
  /** Resolves when the process has exited, for any reason. Never rejects. */
  readonly exited: Promise<void>;
}

export interface Cluster {
  /** See `EmbeddedOptions`. */
  readonly name: string;
  readonly clusterDir: string;
  readonly account: Account;
  readonly binaries: Binaries;
  readonly durability: Durability;
}

const POLL_MS = 10;
const WATCH_MS = 200;
/** How long a running postmaster may refuse connections before it is stopped; a dying one disappears sooner. */
const UNREACHABLE_MS = 5_000;

/** A signal, and how long to wait for its effect, in milliseconds. */
type StopStep = readonly [NodeJS.Signals, number];
const IMMEDIATE_STOP: readonly StopStep[] = [
  ['SIGQUIT', 10_000],
  ['SIGKILL', 10_000],
];
const FAST_STOP: readonly StopStep[] = [['SIGINT', 60_000], ...IMMEDIATE_STOP];
/** How long the logger may take after the postmaster has ended, before it is killed. */
const LOGGER_STOP_MS = 10_000;

/**
 * Starts the postmaster of a cluster that has none. Waits without a time limit until recovery ends and the postmaster
 * accepts connections.
 * @throws EmbeddedDatabaseError `start_failed` with PostgreSQL's own error message.
 */
export async function startPostmaster(cluster: Cluster, address: Address): Promise<Postmaster> {
  const { clusterDir, account, binaries } = cluster;
  // Output goes to a file, not a pipe: the postmaster may outlive this process, and a pipe without a reader would lose
  // its messages.
  const output = runAsOwner(ownerOnDisk(account), () => {
    const path = join(clusterDir, START_LOG);
    rmSync(path, { force: true });
    return openSync(path, 'wx', 0o600);
  });
  const args = commandLine(clusterDir, address, cluster.durability);
  const child = startProgram(account, binaries.postgres, args, ['ignore', output, output]);
  child.unref();
  let ended = false;
  const exited = new Promise<void>((resolve) => {
    const end = () => {
      ended = true;
      resolve();
    };
    child.on('error', end);
    child.on('exit', end);
  });
  closeSync(output);
  for (;;) {
    if (ended) throw startFailed(lastServerLine(cluster));
    const file = await readPostmasterFile(clusterDir);
    if (file && file.pid === child.pid && file.status === 'ready') return { pid: file.pid, address, exited };
    await delay(POLL_MS);
  }
}

/**
 * Returns the running postmaster of a previous owner, or undefined if there is none to use. Waits while that postmaster
 * starts, stops or dies. Stops it if it does not respond, or runs programs that npm has replaced.
 */
export async function adoptPostmaster(cluster: Cluster, credentials: Credentials): Promise<Postmaster | undefined> {
  const { clusterDir, binaries } = cluster;
  for (const unreachableAt = performance.now() + UNREACHABLE_MS; ; await delay(POLL_MS)) {
    const file = await runningPostmaster(clusterDir);
    if (!file) return undefined;
    if (file.status !== 'ready') continue;
    const address: Address = { socketDir: file.socketDir === '' ? undefined : file.socketDir, port: file.port };
    const isCurrent = await runsProgram(file.pid, binaries.postgres);
    const probed = isCurrent ? await probeServer(address, credentials) : undefined;
    if (probed === 'ready') return { pid: file.pid, address, exited: watch(file.pid, clusterDir) };
    if (probed === 'starting' || (probed === 'unreachable' && performance.now() < unreachableAt)) continue;
    await stopPostmaster(file.pid, clusterDir, probed === 'silent' ? IMMEDIATE_STOP : FAST_STOP);
    return undefined;
  }
}

/**
 * Removes the remains of a dead postmaster: its lock files, which would block the next postmaster if their process id
 * were reused, and its backends, which still hold the shared memory. Also kills a postmaster that has not written
 * `postmaster.pid` yet. Call it only as the owner of the cluster, and only when no postmaster runs.
 * @param socketDir the socket folder of the next postmaster. The folder stays, and is created again if it was deleted.
 * @throws EmbeddedDatabaseError `data_dir_in_use` if a postmaster that this process cannot see listens in the folder.
 */
export async function clearDeadPostmaster({ name, clusterDir, account }: Cluster, socketDir = ''): Promise<void> {
  const file = await readPostmasterFile(clusterDir);
  await killAll(clusterDir);
  if (!(await pollUntil(() => isUnused(clusterDir), UNREACHABLE_MS))) {
    throw new EmbeddedDatabaseError(
      'data_dir_in_use',
      `The database in ${clusterDir} is in use by a PostgreSQL server that this process cannot see, such as one outside its container: stop that server.`,
    );
  }
  await restoreShortFolder(name, account, socketDir);
  runAsOwner(ownerOnDisk(account), () => {
    if (file?.socketDir !== socketDir) removeShortFolder(name, file?.socketDir);
    rmSync(join(clusterDir, 'postmaster.pid'), { force: true });
    for (const folder of socketDir === '' ? [clusterDir] : [clusterDir, socketDir]) {
      const sockets = readdirSync(folder).filter((entry) => entry.startsWith('.s.PGSQL.'));
      for (const stale of sockets) rmSync(join(folder, stale), { force: true });
    }
  });
}

/**
 * Returns whether no postmaster listens in the cluster's folder. A process in a container cannot see a postmaster of
 * the host that uses the same folder, and two postmasters would corrupt the database.
 */
async function isUnused(clusterDir: string): Promise<boolean> {
  if (!fitsSocket(clusterDir)) return true;
  for (const name of readdirSync(clusterDir).filter((entry) => entry.startsWith('.s.PGSQL.'))) {
    const listener = await connectToListener(join(clusterDir, name));
    listener?.destroy();
    if (listener) return false;
  }
  return true;
}

/** Kills every PostgreSQL process of a folder. Call it only when no postmaster runs there. */
export async function killAll(folder: string): Promise<void> {
  for (;;) {
    const pids = await processesOf(folder);
    if (pids.length === 0) return;
    for (const pid of pids) signal(pid, 'SIGKILL');
    await delay(POLL_MS);
  }
}

/**
 * Shuts a postmaster down (by default, in fast mode), and returns when no process of the cluster is left. If the
 * postmaster does not end, it is killed; the next start then takes longer because of recovery, but no data is lost.
 */
export async function stopPostmaster(
  pid: number,
  clusterDir: string,
  steps: readonly StopStep[] = FAST_STOP,
): Promise<void> {
  const isGone = async () => !(await belongsToCluster(pid, clusterDir));
  for (const [name, deadlineMs] of steps) {
    if (await isGone()) break;
    signal(pid, name);
    // A suspended process handles the signal only after it continues.
    signal(pid, 'SIGCONT');
    await pollUntil(isGone, deadlineMs);
  }
  if (!(await isGone())) return;
  // The logger ends after the postmaster, once it has written everything.
  await pollUntil(async () => (await processesOf(clusterDir)).length === 0, LOGGER_STOP_MS);
  await killAll(clusterDir);
}

/** Waits until `isDone` resolves to true, for at most `deadlineMs`. @returns whether it resolved to true in time. */
async function pollUntil(isDone: () => Promise<boolean>, deadlineMs: number): Promise<boolean> {
  for (const end = performance.now() + deadlineMs; performance.now() < end; await delay(POLL_MS)) {
    if (await isDone()) return true;
  }
  return false;
}

/**
 * Resolves when a postmaster is certainly gone. A postmaster that this process did not start emits no exit event, so it
 * is polled.
 */
async function watch(pid: number, clusterDir: string): Promise<void> {
  while (await belongsToCluster(pid, clusterDir).catch(() => true)) await delay(WATCH_MS, undefined, { ref: false });
}

/** Sends a signal to a process, unless it has just ended. */
export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // The process ended between the check and the signal.
  }
}

function startFailed(reason: string): EmbeddedDatabaseError {
  return new EmbeddedDatabaseError('start_failed', `The embedded PostgreSQL did not start: ${reason}`);
}
