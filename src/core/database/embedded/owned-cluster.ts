import type { Log } from '../../log.ts';
import { chooseAddress, databaseUrl, removeShortFolder } from './address.ts';
import { findBinaries } from './binaries.ts';
import { mustBeTaken } from './cluster-folder.ts';
import { EmbeddedDatabaseError } from './embedded-database-error.ts';
import { clusterVersion, initCluster, readPassword } from './init-cluster.ts';
import type { Machine } from './machine.ts';
import type { Reachable } from './ownership.ts';
import { choosePlace, type Place } from './place.ts';
import { adoptPostmaster, type Cluster, type Postmaster } from './postmaster.ts';
import type { Durability } from './server-settings.ts';
import { startAt, supervise } from './supervisor.ts';

export interface OwnedCluster extends Reachable {
  stop(): Promise<void>;
  /** Leaves the postmaster running for the next owner. */
  leave(): Promise<void>;
}

/** Brings the cluster of a data folder up and keeps it up. Only for the folder's owner. */
export async function runCluster(
  dataDir: string,
  durability: Durability,
  machine: Machine,
  log: Log,
): Promise<OwnedCluster> {
  const binaries = machine.binaries ?? (await findBinaries(machine.platform, machine.arch));
  const place = await choosePlace({
    dataDir,
    binaries,
    namespaces: machine.namespaces,
    elsewhere: machine.elsewhere,
    log,
  });
  const { clusterDir } = place;
  const cluster: Cluster = { clusterDir, account: place.account, binaries: place.binaries, durability };
  if (place.exists) {
    await mustBeTaken(place);
    await checkVersion(place);
  } else {
    log.info({ location: clusterDir }, 'Making the embedded database, once.');
    await initCluster(cluster);
  }
  const password = await readPassword(clusterDir);
  const postmaster = await adoptOrStart(cluster, machine.unixSockets, log);
  const supervisor = supervise(cluster, postmaster, log);
  return {
    url: databaseUrl(postmaster.address, password),
    location: clusterDir,
    leave: () => supervisor.leave(),
    async stop() {
      await supervisor.stop();
      await removeShortFolder(postmaster.address.socketDir);
    },
  };
}

async function adoptOrStart(cluster: Cluster, unixSockets: boolean, log: Log): Promise<Postmaster> {
  const adopted = await adoptPostmaster(cluster);
  if (adopted) {
    log.info({ pid: adopted.pid }, 'Took over the embedded PostgreSQL that was left running.');
    return adopted;
  }
  const address = await chooseAddress(cluster.clusterDir, cluster.account, unixSockets);
  try {
    return await startAt(cluster, address);
  } catch (error) {
    await removeShortFolder(address.socketDir);
    throw error;
  }
}

async function checkVersion({ clusterDir, majorVersion }: Place): Promise<void> {
  const made = await clusterVersion(clusterDir);
  if (made === majorVersion) return;
  throw new EmbeddedDatabaseError(
    'version_mismatch',
    `The database in ${clusterDir} was made by PostgreSQL ${made} and this is PostgreSQL ${majorVersion}: write a backup with the ` +
      'Groundswell that made it (groundswell backup site.backup), move the folder away, and restore it with this one ' +
      '(groundswell restore site.backup); or set DATABASE_URL.',
  );
}
