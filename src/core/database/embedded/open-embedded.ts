import { once } from 'node:events';
import { access, constants, realpath } from 'node:fs/promises';
import { resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { makeTraversableFolder, systemCode } from '../../file-system.ts';
import type { Log } from '../../runtime.ts';
import { type HostEnvironment, thisHost } from './cluster-location.ts';
import { EmbeddedDatabaseError, type OperatorTerms } from './embedded-database-error.ts';
import { type OwnedCluster, runCluster } from './owned-cluster.ts';
import {
  becomeOwner,
  type Mode,
  type OwnerConnection,
  type OwnerStatus,
  type Ownership,
  type Reachable,
} from './ownership.ts';
import type { Durability } from './server-settings.ts';

export interface EmbeddedOptions {
  /** The name of the role and the database, and of files; so it must not change. Letters a–z, digits and `_`. */
  readonly name: string;
  /** The cluster is in its subfolder `postgres`. Created if missing. */
  readonly dataDir: string;
  /** For example `own` for a server, and `share` for a command-line tool. */
  readonly mode: Mode;
  readonly log: Log;
  /** The names of the settings in messages to the operator. */
  readonly terms?: OperatorTerms;
  /** Default `full`. */
  readonly durability?: Durability;
}

export interface EmbeddedDatabase {
  /** A `postgres://` URL that contains the password: never log it. */
  readonly url: string;
  /** The folder of the cluster, for messages to the operator. */
  readonly location: string;
  /** In mode `own`, sets the description of this process that another one reports if it wants to own the folder. */
  setOwnerNote(note: string): void;
  /**
   * Shuts PostgreSQL down if this process owns it and no other process uses it; otherwise leaves it running.
   * Idempotent.
   */
  stop(): Promise<void>;
}

/**
 * How this process uses the database: as the owner of the data folder, or through the process that owns it. `lost`
 * resolves when another process requests the folder from this owner or, for a sharer, when the owner is gone.
 */
type Session =
  | {
      readonly kind: 'owner';
      readonly cluster: OwnedCluster;
      readonly ownership: Ownership;
      readonly lost: Promise<void>;
    }
  | {
      readonly kind: 'sharer';
      readonly reachable: Reachable;
      readonly owner: OwnerConnection;
      readonly lost: Promise<void>;
    };

/** Names that need no quotes in SQL, URLs and paths. */
const NAME = /^[a-z][a-z0-9_]{0,62}$/;

/** How long a process waits before it claims a released folder, so the process that requested the folder gets it. */
const RECLAIM_DELAY_MS = 300;

/**
 * Opens the embedded database of a data folder. The server runs in its own session: if this process dies without
 * `stop`, the server continues, and the next process to open the folder adopts it.
 * @throws EmbeddedDatabaseError with a message for the operator.
 */
export async function openEmbedded(
  options: EmbeddedOptions,
  host: HostEnvironment = thisHost,
): Promise<EmbeddedDatabase> {
  const { name, mode, log, terms } = options;
  if (!NAME.test(name)) throw new TypeError(`name: ${name} must match ${NAME}`);
  const inTerms = (error: unknown) =>
    error instanceof EmbeddedDatabaseError && terms ? error.inTermsOf(terms) : error;
  const dataDir = await prepareDataDir(options.dataDir).catch((error: unknown) => {
    throw inTerms(error);
  });
  /** Undefined while the folder changes owner. */
  let session: Session | undefined = await enter().catch((error: unknown) => {
    throw inTerms(asEmbeddedDatabaseError(error, dataDir));
  });
  const { url, location } = reachableIn(session);
  const end = new AbortController();
  const ended = once(end.signal, 'abort');
  const following = follow().catch((error: unknown) =>
    log.error({ err: inTerms(error) }, 'Cannot take over the embedded database.'),
  );
  let stopping: Promise<void> | undefined;

  async function enter(): Promise<Session> {
    for (;;) {
      const attempt = await becomeOwner(name, dataDir, mode);
      if ('owned' in attempt) return own(attempt.owned);
      if (mode === 'own') await waitForRelease(attempt.owner, dataDir);
      else {
        const reachable = await waitToShare(attempt.owner, dataDir);
        if (reachable) return { kind: 'sharer', reachable, owner: attempt.owner, lost: attempt.owner.gone };
      }
    }
  }

  async function own(ownership: Ownership): Promise<Session> {
    try {
      const cluster = await runCluster({ name, dataDir, durability: options.durability ?? 'full', log }, host);
      ownership.announce({ url: cluster.url, location: cluster.location });
      return { kind: 'owner', cluster, ownership, lost: ownership.isHandOverRequested };
    } catch (error) {
      ownership.release();
      throw error;
    }
  }

  /** Opens the folder again when another process takes it from this one, or when its owner disappears. */
  async function follow(): Promise<void> {
    while (session) {
      const { lost, ...current } = session;
      await Promise.race([lost, ended]);
      if (end.signal.aborted) return;
      session = undefined;
      if (current.kind === 'owner') await handOver(current);
      await delay(RECLAIM_DELAY_MS);
      // Runs even after `stop` was called: without another owner, this process must stop the server.
      session = await enter();
    }
  }

  async function stop(): Promise<void> {
    end.abort();
    await following;
    if (!session) return;
    if (session.kind === 'sharer') return session.owner.close();
    const { cluster, ownership } = session;
    const sharers = ownership.sharers();
    if (sharers > 0) {
      log.info(`Left the embedded PostgreSQL running for ${sharers} other process(es); the last one stops it.`);
      return handOver(session);
    }
    ownership.setStopping();
    await cluster.stop();
    ownership.release();
  }

  return {
    url,
    location,
    setOwnerNote(text) {
      if (session?.kind === 'owner') session.ownership.setNote(text);
    },
    stop() {
      stopping ??= stop();
      return stopping;
    },
  };
}

/** Leaves PostgreSQL running for the next owner. */
async function handOver({ cluster, ownership }: { cluster: OwnedCluster; ownership: Ownership }): Promise<void> {
  await cluster.leave();
  ownership.release();
}

/**
 * Waits until the folder may be free.
 * @throws EmbeddedDatabaseError `data_dir_held` if a running process owns the folder until it stops, or does not respond.
 */
async function waitForRelease(owner: OwnerConnection, dataDir: string): Promise<void> {
  const status = await owner.ask('own');
  if (status !== 'gone' && (status === 'silent' || (status.mode === 'own' && !status.stopping))) {
    await owner.close();
    throw held(dataDir, status);
  }
  await owner.gone;
}

/** Returns the URL and location of the database, or undefined if its owner disappeared first. */
async function waitToShare(owner: OwnerConnection, dataDir: string): Promise<Reachable | undefined> {
  const status = await owner.ask('share');
  if (status !== 'silent') return owner.reachable();
  await owner.close();
  throw held(dataDir, status);
}

function held(dataDir: string, status: OwnerStatus | 'silent'): EmbeddedDatabaseError {
  const what =
    status === 'silent'
      ? 'a process that does not respond: end it'
      : `process ${status.pid}${status.note === '' ? '' : ` (${status.note})`} since ${status.since}: stop that one`;
  return new EmbeddedDatabaseError(
    'data_dir_held',
    (terms) => `The database in ${dataDir} is held by ${what} first, or set ${terms.dataDir} to another folder.`,
  );
}

/** Creates the data folder if missing. @returns its real path. @throws EmbeddedDatabaseError `data_dir_unwritable`. */
async function prepareDataDir(dataDir: string): Promise<string> {
  const wanted = resolve(dataDir);
  try {
    await makeTraversableFolder(wanted);
    await access(wanted, constants.R_OK | constants.W_OK | constants.X_OK);
    return await realpath(wanted);
  } catch (error) {
    throw new EmbeddedDatabaseError(
      'data_dir_unwritable',
      (terms) =>
        `Cannot write to the data folder ${wanted} (${systemCode(error) ?? error}): set ${terms.dataDir} to a folder that this user can write to, or change the folder's owner.`,
      { cause: error },
    );
  }
}

/** Converts unexpected system errors into one line for the operator. */
function asEmbeddedDatabaseError(error: unknown, dataDir: string): EmbeddedDatabaseError {
  if (error instanceof EmbeddedDatabaseError) return error;
  const reason = error instanceof Error ? error.message : String(error);
  return new EmbeddedDatabaseError(
    'start_failed',
    (terms) =>
      `Cannot open the embedded database in ${dataDir} (${reason}): ${terms.dataDir} must be on a local disk with free space ` +
      'and support for links and Unix sockets.',
    { cause: error },
  );
}

function reachableIn(session: Session): Reachable {
  return session.kind === 'owner' ? session.cluster : session.reachable;
}
