import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { Log } from '../../runtime.ts';
import type { HostEnvironment } from './cluster-location.ts';
import { EmbeddedDatabaseError } from './embedded-database-error.ts';
import { type ClusterOptions, type OwnedCluster, runCluster } from './owned-cluster.ts';
import {
  becomeOwner,
  type DatabaseAddress,
  type Mode,
  type OwnerConnection,
  type OwnerStatus,
  type Ownership,
} from './ownership.ts';

/** How this process uses the database: it owns the folder and runs PostgreSQL, or shares the database of the owner. */
export type Session = OwnerSession | SharerSession;

interface OwnerSession {
  readonly kind: 'owner';
  readonly cluster: OwnedCluster;
  readonly ownership: Ownership;
}

interface SharerSession {
  readonly kind: 'sharer';
  readonly reachable: DatabaseAddress;
  readonly owner: OwnerConnection;
}

export interface SessionOptions extends ClusterOptions {
  readonly mode: Mode;
  readonly host: HostEnvironment;
}

/**
 * How long a process waits before it claims a released folder, so the process that requested the folder gets it first.
 */
const RECLAIM_DELAY_MS = 300;

/**
 * Owns the data folder, or shares the database of its owner. Waits while another process starts the database, stops it
 * or gives up the folder; `signal` ends this wait.
 * @throws EmbeddedDatabaseError, such as `data_dir_in_use` if the owner keeps the folder; the reason of `signal`.
 */
export async function openSession(options: SessionOptions, signal?: AbortSignal): Promise<Session> {
  const { name, dataDir, mode } = options;
  for (;;) {
    signal?.throwIfAborted();
    const attempt = await becomeOwner(name, dataDir, mode);
    if ('owned' in attempt) return own(attempt.owned, options);
    const { owner } = attempt;
    const disconnect = () => void owner.close();
    signal?.addEventListener('abort', disconnect);
    // The signal may have been aborted while this process connected to the owner.
    if (signal?.aborted) disconnect();
    try {
      const session = await shareOrWait(owner, options);
      if (session) return session;
    } finally {
      signal?.removeEventListener('abort', disconnect);
    }
  }
}

/** Shares the owner's database, or returns undefined when the owner is gone. @throws EmbeddedDatabaseError. */
async function shareOrWait(owner: OwnerConnection, options: SessionOptions): Promise<SharerSession | undefined> {
  const { dataDir, mode } = options;
  const status = await owner.ask(mode);
  switch (reactTo(status, mode)) {
    case 'wait':
      await owner.closed;
      return undefined;
    case 'share': {
      const reachable = await owner.reachable();
      return reachable && { kind: 'sharer', reachable, owner };
    }
    case 'refuse':
      await owner.close();
      throw inUse(dataDir, status);
  }
}

/**
 * Decides how a process in this mode reacts to the owner that it found. `wait` means to try again when the owner is
 * gone.
 */
export function reactTo(owner: OwnerStatus | 'gone' | 'silent', mode: Mode): 'wait' | 'share' | 'refuse' {
  if (owner === 'silent') return 'refuse';
  if (owner === 'gone' || owner.stopping) return 'wait';
  if (mode === 'share') return 'share';
  // An owner in mode `share` gives the folder up when it learns that this process wants to own it.
  return owner.mode === 'share' ? 'wait' : 'refuse';
}

async function own(ownership: Ownership, options: SessionOptions): Promise<OwnerSession> {
  try {
    const cluster = await runCluster(options, options.host);
    ownership.announce({ url: cluster.url, location: cluster.location });
    return { kind: 'owner', cluster, ownership };
  } catch (error) {
    ownership.release();
    throw error;
  }
}

/**
 * Opens another session whenever the current one is lost, which happens only in mode `share`: an owner loses it when
 * another process wants to `own` the folder, and a sharer when the owner is gone.
 * @returns the session that is current when `end` is aborted.
 */
export async function maintainSession(first: Session, options: SessionOptions, end: AbortSignal): Promise<Session> {
  const ended = once(end, 'abort');
  for (let session = first; ; session = await openSession(options)) {
    await Promise.race([session.kind === 'owner' ? session.ownership.handOverRequested : session.owner.closed, ended]);
    if (end.aborted) return session;
    if (session.kind === 'owner') await handOver(session);
    // The next session is opened even if `end` is aborted by then: if there is no other owner, this process must stop
    // PostgreSQL.
    await delay(RECLAIM_DELAY_MS);
  }
}

/** Ends the session. Stops PostgreSQL if this process owns the folder and no other process uses the database. */
export async function closeSession(session: Session, log: Log): Promise<void> {
  if (session.kind === 'sharer') return session.owner.close();
  const { cluster, ownership } = session;
  const sharers = ownership.sharers();
  if (sharers > 0) {
    log.info(
      `Left the embedded PostgreSQL running, because it is in use (other processes: ${sharers}). The last of them stops it.`,
    );
    return handOver(session);
  }
  ownership.setStopping();
  // The folder is released even after a failure, because the owner's socket would keep this process alive.
  await cluster.stop().finally(() => ownership.release());
}

/** Leaves PostgreSQL running for the next owner. */
async function handOver({ cluster, ownership }: OwnerSession): Promise<void> {
  await cluster.leave().finally(() => ownership.release());
}

function inUse(dataDir: string, owner: OwnerStatus | 'gone' | 'silent'): EmbeddedDatabaseError {
  const what =
    typeof owner === 'string'
      ? 'a process that does not respond: stop that process'
      : `process ${owner.pid}${owner.note === '' ? '' : ` (${owner.note})`}, which has used it since ${owner.since}: stop that process`;
  return new EmbeddedDatabaseError(
    typeof owner === 'string' ? 'start_failed' : 'data_dir_in_use',
    (terms) => `The database in ${dataDir} is in use by ${what} first, or set ${terms.dataDir} to another folder.`,
  );
}
