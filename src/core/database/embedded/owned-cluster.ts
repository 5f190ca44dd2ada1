import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Log } from '../../runtime.ts';
import { type Address, type Credentials, chooseAddress, databaseUrl, removeShortFolder } from './address.ts';
import { findBinaries } from './binaries.ts';
import {
  type ClusterLocation,
  checkClusterPermissions,
  chooseLocation,
  type HostEnvironment,
} from './cluster-location.ts';
import { EmbeddedDatabaseError, noDatabase } from './embedded-database-error.ts';
import { clusterVersion, initCluster, readCredentials } from './init-cluster.ts';
import type { DatabaseAddress } from './ownership.ts';
import {
  adoptPostmaster,
  type Cluster,
  clearDeadPostmaster,
  type Postmaster,
  readPostmasterFile,
  signal,
  startPostmaster,
  stopPostmaster,
} from './postmaster.ts';
import { lastServerLine, pruneLogs } from './server-log.ts';
import type { Durability } from './server-settings.ts';

export interface OwnedCluster extends DatabaseAddress {
  stop(): Promise<void>;
  /** Leaves the postmaster running for the next owner. */
  leave(): Promise<void>;
}

export interface ClusterOptions {
  readonly name: string;
  /** The real path of an existing data folder. */
  readonly dataDir: string;
  readonly durability: Durability;
  /** Whether to create the cluster if it does not exist. */
  readonly create: boolean;
  readonly log: Log;
}

/**
 * Starts the cluster of a data folder, or adopts it if it already runs, and keeps it running. Call it only as the
 * folder's owner.
 * @throws EmbeddedDatabaseError, such as `no_database` if there is no cluster and `create` is false.
 */
export async function runCluster(options: ClusterOptions, host: HostEnvironment): Promise<OwnedCluster> {
  const { name, dataDir, durability, log } = options;
  const binaries = host.binaries ?? (await findBinaries(host.platform, host.arch));
  const fallbackFolder = join(host.stateFolder, name);
  const location = await chooseLocation({ dataDir, binaries, namespaces: host.namespaces, fallbackFolder, log });
  const { clusterDir } = location;
  const cluster: Cluster = { name, clusterDir, account: location.account, binaries: location.binaries, durability };
  if (location.exists) {
    await checkClusterPermissions(location);
    checkVersion(location);
  } else if (!options.create) {
    throw noDatabase(dataDir);
  } else {
    log.info({ location: clusterDir }, 'Creating the embedded database');
    await initCluster(cluster);
  }
  const credentials = readCredentials(cluster);
  const postmaster = await adoptOrStart(cluster, credentials, host.unixSockets, log);
  const supervisor = supervise(cluster, postmaster, credentials, log);
  return {
    url: databaseUrl(postmaster.address, credentials),
    location: clusterDir,
    leave: () => supervisor.leave(),
    async stop() {
      await supervisor.stop();
      removeShortFolder(name, postmaster.address.socketDir);
    },
  };
}

async function adoptOrStart(
  cluster: Cluster,
  credentials: Credentials,
  unixSockets: boolean,
  log: Log,
): Promise<Postmaster> {
  const adopted = await adoptPostmaster(cluster, credentials);
  if (adopted) {
    log.info({ pid: adopted.pid }, 'Adopted the embedded PostgreSQL of a previous process');
    return adopted;
  }
  const address = await chooseAddress(cluster, unixSockets);
  try {
    return await startAt(cluster, address, credentials);
  } catch (error) {
    removeShortFolder(cluster.name, address.socketDir);
    throw error;
  }
}

function checkVersion(location: ClusterLocation): void {
  const { clusterDir, majorVersion } = location;
  const creatorVersion = clusterVersion(location);
  if (creatorVersion === majorVersion) return;
  throw new EmbeddedDatabaseError(
    'version_mismatch',
    ({ product, upgrade }) =>
      `The database in ${clusterDir} was created by PostgreSQL ${creatorVersion}, but this version of ${product} includes PostgreSQL ${majorVersion}. ${upgrade}`,
  );
}

const INITIAL_BACKOFF_MS = 100;
const MAX_BACKOFF_MS = 10_000;
const PRUNE_INTERVAL_MS = 3_600_000;
const SHUTDOWN_CHECK_INTERVAL_MS = 2_000;

interface Supervisor {
  /** Shuts the postmaster down and ends supervision. */
  stop(): Promise<void>;
  /** Ends supervision and leaves the postmaster running for the next owner. */
  leave(): Promise<void>;
}

/**
 * Keeps a postmaster running: restarts it at the same address when it dies. Failed starts are retried without limit, so
 * the database recovers without an operator, for example when its disk has space again.
 */
function supervise(cluster: Cluster, first: Postmaster, credentials: Credentials, log: Log): Supervisor {
  const { address } = first;
  const end = new AbortController();
  let current: Postmaster | undefined = first;
  const watching = keepRunning();
  const pruning = setInterval(prune, PRUNE_INTERVAL_MS).unref();
  prune();
  const checking = setInterval(() => void endSlowShutdown(), SHUTDOWN_CHECK_INTERVAL_MS).unref();

  async function keepRunning(): Promise<void> {
    while (!end.signal.aborted && current) {
      await Promise.race([current.exited, aborted(end.signal)]);
      if (end.signal.aborted) return;
      current = undefined;
      log.error(`The embedded PostgreSQL exited (${lastServerLine(cluster)}). Restarting it.`);
      current = await startUntilItRuns();
      if (current) log.warn({ pid: current.pid }, 'The embedded PostgreSQL is running again');
    }
  }

  async function startUntilItRuns(): Promise<Postmaster | undefined> {
    for (let backoffMs = INITIAL_BACKOFF_MS; !end.signal.aborted; backoffMs = Math.min(backoffMs * 2, MAX_BACKOFF_MS)) {
      try {
        return await startAt(cluster, address, credentials);
      } catch (error) {
        log.error({ err: error }, `${error instanceof Error ? error.message : error}; trying again in ${backoffMs} ms`);
        await delay(backoffMs, undefined, { signal: end.signal, ref: false }).catch(() => undefined);
      }
    }
    return undefined;
  }

  /**
   * Turns a shutdown that another program began with SIGTERM into a fast one. Otherwise, PostgreSQL would accept no new
   * sessions, but wait for those of the site, which never end.
   */
  async function endSlowShutdown(): Promise<void> {
    const file = await readPostmasterFile(cluster.clusterDir).catch(() => undefined);
    if (file?.status === 'stopping' && file.pid === current?.pid) signal(file.pid, 'SIGINT');
  }

  function prune(): void {
    try {
      pruneLogs(cluster);
    } catch (error) {
      log.warn({ err: error }, 'Cannot delete old PostgreSQL logs');
    }
  }

  async function leave(): Promise<void> {
    end.abort();
    clearInterval(pruning);
    clearInterval(checking);
    await watching;
  }

  return {
    leave,
    async stop() {
      await leave();
      if (current) await stopPostmaster(current.pid, cluster.clusterDir);
    },
  };
}

/**
 * Adopts the postmaster that runs on the cluster, or cleans up after a dead one and starts a new one at this address.
 */
async function startAt(cluster: Cluster, address: Address, credentials: Credentials): Promise<Postmaster> {
  const adopted = await adoptPostmaster(cluster, credentials);
  if (adopted) return adopted;
  await clearDeadPostmaster(cluster, address.socketDir);
  return startPostmaster(cluster, address);
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
