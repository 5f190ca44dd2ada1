import { setTimeout as delay } from 'node:timers/promises';
import type { Log } from '../../log.ts';
import type { Address } from './address.ts';
import {
  adoptPostmaster,
  type Cluster,
  clearDeadPostmaster,
  type Postmaster,
  startPostmaster,
  stopPostmaster,
} from './postmaster.ts';
import { lastServerLine, pruneLogs } from './server-log.ts';

const FIRST_BACKOFF_MS = 100;
const LONGEST_BACKOFF_MS = 10_000;
const PRUNE_INTERVAL_MS = 3_600_000;

export interface Supervisor {
  /** Stops the postmaster in order and watches no more. */
  stop(): Promise<void>;
  /** Watches no more and leaves the postmaster running, for somebody else to take over. */
  leave(): Promise<void>;
}

/**
 * Keeps a postmaster running: when it dies, starts it again at the same address, and tries for as long as it takes,
 * because a site that waits for its disk to have room again is better than one that gave up at night.
 */
export function supervise(cluster: Cluster, first: Postmaster, log: Log): Supervisor {
  const { address } = first;
  const end = new AbortController();
  let current: Postmaster | undefined = first;
  const watching = keepRunning();
  const pruning = setInterval(() => void prune(), PRUNE_INTERVAL_MS).unref();
  void prune();

  async function keepRunning(): Promise<void> {
    while (!end.signal.aborted && current) {
      await Promise.race([current.gone, aborted(end.signal)]);
      if (end.signal.aborted) return;
      current = undefined;
      log.error(`The embedded PostgreSQL ended: ${await lastServerLine(cluster.clusterDir)} Starting it again.`);
      current = await startUntilItRuns();
      if (current) log.warn({ pid: current.pid }, 'The embedded PostgreSQL is running again.');
    }
  }

  async function startUntilItRuns(): Promise<Postmaster | undefined> {
    for (
      let backoffMs = FIRST_BACKOFF_MS;
      !end.signal.aborted;
      backoffMs = Math.min(backoffMs * 2, LONGEST_BACKOFF_MS)
    ) {
      try {
        return await startAt(cluster, address);
      } catch (error) {
        log.error(
          { err: error },
          `${error instanceof Error ? error.message : error}; trying again in ${backoffMs} ms.`,
        );
        await delay(backoffMs, undefined, { signal: end.signal, ref: false }).catch(() => undefined);
      }
    }
    return undefined;
  }

  async function prune(): Promise<void> {
    await pruneLogs(cluster.clusterDir).catch((error: unknown) =>
      log.warn({ err: error }, 'Old PostgreSQL logs could not be removed.'),
    );
  }

  async function leave(): Promise<void> {
    end.abort();
    clearInterval(pruning);
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

/** Adopts what runs on the cluster, else clears the dead one away and starts a new postmaster at this address. */
export async function startAt(cluster: Cluster, address: Address): Promise<Postmaster> {
  const adopted = await adoptPostmaster(cluster);
  if (adopted) return adopted;
  await clearDeadPostmaster(cluster.clusterDir);
  return startPostmaster(cluster, address);
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
