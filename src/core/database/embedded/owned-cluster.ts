import type { Log } from '../../runtime.ts';
import { chooseAddress, databaseUrl, removeShortFolder } from './address.ts';
import { findBinaries } from './binaries.ts';
import { type ClusterLocation, chooseLocation, type HostEnvironment, mustBeTaken } from './cluster-location.ts';
import { EmbeddedDatabaseError } from './embedded-database-error.ts';
import { clusterVersion, initCluster, readPassword } from './init-cluster.ts';
import type { Reachable } from './ownership.ts';
import { adoptPostmaster, type Cluster, type Postmaster } from './postmaster.ts';
import type { Durability } from './server-settings.ts';
import { startAt, supervise } from './supervisor.ts';

export interface OwnedCluster extends Reachable {
  stop(): Promise<void>;
  /** Leaves the postmaster running for the next owner. */
  leave(): Promise<void>;
}

/** Starts the cluster of a data folder and keeps it running. Only for the folder's owner. */
export async function runCluster(
  dataDir: string,
  durability: Durability,
  host: HostEnvironment,
  log: Log,
): Promise<OwnedCluster> {
  const binaries = host.binaries ?? (await findBinaries(host.platform, host.arch));
  const location = await chooseLocation({
    dataDir,
    binaries,
    namespaces: host.namespaces,
    elsewhere: host.elsewhere,
    log,
  });
  const { clusterDir } = location;
  const cluster: Cluster = { clusterDir, account: location.account, binaries: location.binaries, durability };
  if (location.exists) {
    await mustBeTaken(location);
    checkVersion(location);
  } else {
    log.info({ location: clusterDir }, 'Creating the embedded database.');
    await initCluster(cluster);
  }
  const password = readPassword(cluster);
  const postmaster = await adoptOrStart(cluster, password, host.unixSockets, log);
  const supervisor = supervise(cluster, postmaster, password, log);
  return {
    url: databaseUrl(postmaster.address, password),
    location: clusterDir,
    leave: () => supervisor.leave(),
    async stop() {
      await supervisor.stop();
      removeShortFolder(postmaster.address.socketDir);
    },
  };
}

async function adoptOrStart(cluster: Cluster, password: string, unixSockets: boolean, log: Log): Promise<Postmaster> {
  const adopted = await adoptPostmaster(cluster, password);
  if (adopted) {
    log.info({ pid: adopted.pid }, 'Adopted the embedded PostgreSQL of a previous site.');
    return adopted;
  }
  const address = await chooseAddress(cluster.clusterDir, cluster.account, unixSockets);
  try {
    return await startAt(cluster, address, password);
  } catch (error) {
    removeShortFolder(address.socketDir);
    throw error;
  }
}

function checkVersion(location: ClusterLocation): void {
  const { clusterDir, majorVersion } = location;
  const made = clusterVersion(location);
  if (made === majorVersion) return;
  throw new EmbeddedDatabaseError(
    'version_mismatch',
    `The database in ${clusterDir} was created by PostgreSQL ${made}, but this version includes PostgreSQL ${majorVersion}: write a backup with the ` +
      'Groundswell that made it (groundswell backup site.backup), move the folder away, and restore it with this one ' +
      '(groundswell restore site.backup); or set DATABASE_URL.',
  );
}
