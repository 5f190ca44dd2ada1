import { chmod, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EMBEDDED_NAME } from '../../src/core/database/connect.ts';
import { openEmbedded } from '../../src/core/database/embedded/open-embedded.ts';
import { becomeOwner } from '../../src/core/database/embedded/ownership.ts';
import { killAll, runningPostmaster, stopPostmaster } from '../../src/core/database/embedded/postmaster.ts';
import type { Durability } from '../../src/core/database/embedded/server-settings.ts';
import { silentLog } from './silent-log.ts';

interface ThrowawayCluster {
  readonly url: string;
  /** Stops the server and deletes its folder. */
  stop(): Promise<void>;
}

const PREFIX = 'groundswell-throwaway-';
/** The minimum age of an abandoned folder. A newer folder may not have an owner yet. */
const MIN_AGE_MS = 60_000;

/**
 * Starts a PostgreSQL cluster in a temporary folder. With `durability: 'none'`, it is faster, but loses data in a
 * crash.
 */
export async function startThrowawayCluster(options: { durability?: Durability } = {}): Promise<ThrowawayCluster> {
  await removeAbandoned();
  const dataDir = await mkdtemp(join(tmpdir(), PREFIX));
  await chmod(dataDir, 0o711);
  const database = await openEmbedded({
    name: EMBEDDED_NAME,
    dataDir,
    mode: 'own',
    log: silentLog,
    durability: options.durability ?? 'full',
  });
  return {
    url: database.url,
    async stop() {
      await database.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** Shuts a server down before killing it, because a killed PostgreSQL server does not remove its shared memory. */
export async function stopServer(clusterDir: string): Promise<void> {
  const running = await runningPostmaster(clusterDir);
  if (running) await stopPostmaster(running.pid, clusterDir, [['SIGQUIT', 10_000]]);
  await killAll(clusterDir);
}

/** Removes the clusters of killed test runs, including their servers, which may still be running. */
async function removeAbandoned(): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    const dataDir = join(tmpdir(), name);
    const found = name.startsWith(PREFIX) ? await stat(dataDir).catch(() => undefined) : undefined;
    if (!found || found.uid !== process.getuid?.() || Date.now() - found.mtimeMs < MIN_AGE_MS) continue;
    const attempt = await becomeOwner(EMBEDDED_NAME, dataDir, 'share').catch(() => undefined);
    if (attempt && 'owner' in attempt) await attempt.owner.close();
    if (!attempt || !('owned' in attempt)) continue;
    await stopServer(join(dataDir, 'postgres'));
    attempt.owned.release();
    await rm(dataDir, { recursive: true, force: true });
  }
}
