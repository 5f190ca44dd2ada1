import { chmod, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Log } from '../../log.ts';
import { openEmbedded } from './open-embedded.ts';
import { becomeOwner } from './ownership.ts';
import { killAll } from './postmaster.ts';
import type { Durability } from './server-settings.ts';

export interface ThrowawayCluster {
  readonly url: string;
  /** Stops the server and removes its folder. */
  stop(): Promise<void>;
}

const PREFIX = 'groundswell-throwaway-';
/** A folder younger than this may be between being made and being owned. */
const SETTLED_MS = 60_000;

const silent: Log = { info: () => undefined, warn: () => undefined, error: () => undefined };

/** A cluster in a temporary folder, for tests. `durability: 'none'` is for those that want speed and survive no crash. */
export async function startThrowawayCluster(options: { durability?: Durability } = {}): Promise<ThrowawayCluster> {
  await removeAbandoned();
  const dataDir = await mkdtemp(join(tmpdir(), PREFIX));
  await chmod(dataDir, 0o711);
  const database = await openEmbedded({ dataDir, mode: 'own', log: silent, durability: options.durability ?? 'full' });
  return {
    url: database.url,
    async stop() {
      await database.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** Clusters of test runs that were killed: their servers go on until somebody ends them. */
async function removeAbandoned(): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    const dataDir = join(tmpdir(), name);
    const found = name.startsWith(PREFIX) ? await stat(dataDir).catch(() => undefined) : undefined;
    if (!found || found.uid !== process.getuid?.() || Date.now() - found.mtimeMs < SETTLED_MS) continue;
    const attempt = await becomeOwner(dataDir, 'command', '').catch(() => undefined);
    if (attempt && 'owner' in attempt) await attempt.owner.close();
    if (!attempt || !('owned' in attempt)) continue;
    await killAll(join(dataDir, 'postgres'));
    attempt.owned.release();
    await rm(dataDir, { recursive: true, force: true });
  }
}
