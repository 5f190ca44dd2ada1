import { setTimeout as delay } from 'node:timers/promises';
import type { Log } from '../../runtime.ts';
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
  /** Stops the postmaster in order and ends supervision. */
  stop(): Promise<void>;
  /** Ends supervision and leaves the postmaster running for the next owner. */
  leave(): Promise<void>;
}

/**
 * Keeps a postmaster running: when it dies, restarts it at the same address, for as long as it takes, because a site
 * that recovers once its disk has room again is better than one that gave up at night.
 */
export function supervise(cluster: Cluster, first: Postmaster, password: string, log: Log): Supervisor {
  const { address } = first;
  const end = new AbortController();
  let current: Postmaster | undefined = first;
  const watching = keepRunning();
  const pruning = setInterval(prune, PRUNE_INTERVAL_MS).unref();
  prune();

  async function keepRunning(): Promise<void> {
    while (!end.signal.aborted && current) {
      await Promise.race([current.gone, aborted(end.signal)]);
      if (end.signal.aborted) return;
      current = undefined;
      log.error(`The embedded PostgreSQL exited: ${lastServerLine(cluster)} Restarting it.`);
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
        return await startAt(cluster, address, password);
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

  function prune(): void {
    try {
      pruneLogs(cluster);
    } catch (error) {
      log.warn({ err: error }, 'Could not remove old logs of PostgreSQL.');
    }
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

/** Adopts what runs on the cluster, else cleans up after the dead one and starts a new postmaster at this address. */
export async function startAt(cluster: Cluster, address: Address, password: string): Promise<Postmaster> {
  const adopted = await adoptPostmaster(cluster, password);
  if (adopted) return adopted;
  await clearDeadPostmaster(cluster);
  return startPostmaster(cluster, address);
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
