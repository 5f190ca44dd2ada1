import { appendFile, chmod, chown, cp, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EMBEDDED_NAME } from '../../src/core/database/connect.ts';
import { openDatabase } from '../../src/core/database/database.ts';
import { ownerOnDisk } from '../../src/core/database/embedded/account.ts';
import { findBinaries } from '../../src/core/database/embedded/binaries.ts';
import { chooseLocation, thisHost } from '../../src/core/database/embedded/cluster-location.ts';
import { initCluster } from '../../src/core/database/embedded/init-cluster.ts';
import { type Cluster, killAll, startPostmaster, stopPostmaster } from '../../src/core/database/embedded/postmaster.ts';
import { silentLog } from './silent-log.ts';
import { stablePort } from './stable-port.ts';

/** A PostgreSQL server that a test starts and stops. */
export interface TestServer {
  /** The URL for the site's role. */
  url: string;
  /** The URL for the superuser, who may pause replication and promote a replica. */
  adminUrl: string;
  start(): Promise<void>;
  stop(): Promise<void>;
}

export interface ReplicatedServers {
  primary: TestServer;
  replicas: TestServer[];
  /** Stops all servers and deletes their folders. */
  remove(): Promise<void>;
}

const ACCESS = `local all all trust
host all all 127.0.0.1/32 trust
host replication all 127.0.0.1/32 trust
`;

/** The settings of all servers. `wal_keep_size` retains some WAL for stopped replicas. */
const SETTINGS = `
wal_level = replica
wal_keep_size = 128MB
shared_buffers = 16MB
`;

/**
 * Starts a primary and its streaming replicas. The bundled binaries lack pg_basebackup, so each replica starts as a
 * copy of the primary's folder from before the primary's first start.
 */
export async function startReplicatedServers(replicaCount: number): Promise<ReplicatedServers> {
  const folder = await mkdtemp(join(tmpdir(), 'groundswell-replicas-'));
  await chmod(folder, 0o711);
  const binaries = await findBinaries(thisHost.platform, thisHost.arch);
  const location = await chooseLocation({
    dataDir: folder,
    binaries,
    namespaces: thisHost.namespaces,
    fallbackFolder: join(thisHost.stateFolder, EMBEDDED_NAME),
    log: silentLog,
  });
  const cluster: Cluster = {
    name: EMBEDDED_NAME,
    clusterDir: location.clusterDir,
    account: location.account,
    binaries: location.binaries,
    durability: 'none',
  };
  const owner = ownerOnDisk(location.account);
  await initCluster(cluster);
  await writeFile(join(cluster.clusterDir, 'pg_hba.conf'), ACCESS);
  await appendFile(join(cluster.clusterDir, 'postgresql.conf'), SETTINGS);
  const primaryPort = await stablePort();
  const replicas: TestServer[] = [];
  for (let number = 1; number <= replicaCount; number += 1) {
    const clusterDir = join(folder, `replica-${number}`);
    await cp(cluster.clusterDir, clusterDir, { recursive: true, preserveTimestamps: true });
    await appendFile(
      join(clusterDir, 'postgresql.conf'),
      `primary_conninfo = 'host=127.0.0.1 port=${primaryPort} user=postgres'\nwal_retrieve_retry_interval = 100ms\n`,
    );
    await writeFile(join(clusterDir, 'standby.signal'), '');
    if (owner) await chownAll(clusterDir, owner);
    await chmod(clusterDir, 0o700);
    replicas.push(serverOf({ ...cluster, clusterDir }, await stablePort()));
  }
  const primary = serverOf(cluster, primaryPort);
  await primary.start();
  for (const replica of replicas) await replica.start();
  return {
    primary,
    replicas,
    async remove() {
      for (const server of [...replicas, primary]) await server.stop();
      await killAll(folder);
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

function serverOf(cluster: Cluster, port: number): TestServer {
  let pid: number | undefined;
  return {
    url: `postgres://${EMBEDDED_NAME}@127.0.0.1:${port}/${EMBEDDED_NAME}`,
    adminUrl: `postgres://postgres@127.0.0.1:${port}/${EMBEDDED_NAME}`,
    async start() {
      ({ pid } = await startPostmaster(cluster, { socketDir: undefined, port }));
    },
    async stop() {
      if (pid !== undefined) await stopPostmaster(pid, cluster.clusterDir);
      pid = undefined;
    },
  };
}

async function chownAll(folder: string, { uid, gid }: { uid: number; gid: number }): Promise<void> {
  for (const entry of await readdir(folder, { recursive: true })) await chown(join(folder, entry), uid, gid);
  await chown(folder, uid, gid);
}

/** Runs a statement that requires a superuser. */
export async function asAdmin(adminUrl: string, statement: string): Promise<void> {
  const admin = openDatabase({ url: adminUrl, log: silentLog, maxConnections: 1 });
  try {
    await admin.query(statement);
  } finally {
    await admin.close();
  }
}

export async function onEach(servers: readonly TestServer[], statement: string): Promise<void> {
  await Promise.all(servers.map(({ adminUrl }) => asAdmin(adminUrl, statement)));
}
