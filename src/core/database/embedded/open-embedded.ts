import { setTimeout as delay } from 'node:timers/promises';
import type { Log } from '../../log.ts';
import { prepareDataDir } from './data-dir.ts';
import { EmbeddedDatabaseError } from './embedded-database-error.ts';
import { type Machine, thisMachine } from './machine.ts';
import { type OwnedCluster, runCluster } from './owned-cluster.ts';
import { becomeOwner, type OwnerConnection, type OwnerStatus, type Ownership, type Reachable } from './ownership.ts';
import type { Durability } from './server-settings.ts';

export interface EmbeddedOptions {
  /** The product's data folder; the cluster lives in its `postgres` folder. Made when missing. */
  readonly dataDir: string;
  /**
   * `own`: the site, of which a data folder has one. `share`: an operator's command, which uses the running database,
   * else starts it and stops it again afterwards.
   */
  readonly mode: 'own' | 'share';
  readonly log: Log;
  /** Default `full`. */
  readonly durability?: Durability;
}

export interface EmbeddedDatabase {
  /** `postgres://` URL with its password: never to be logged. */
  readonly url: string;
  /** The folder in which the data lies, for the operator. */
  readonly location: string;
  /** What a second site is told about this one, such as its address. */
  setOwnerNote(note: string): void;
  /** Stops PostgreSQL in order when this process is its owner and nobody else uses it; else lets go of it. Once, however often called. */
  stop(): Promise<void>;
}

type Session =
  | { readonly kind: 'owner'; readonly cluster: OwnedCluster; readonly ownership: Ownership }
  | {
      readonly kind: 'sharer';
      readonly reachable: Reachable;
      readonly owner: OwnerConnection;
    };

/** How long those who share stand back when an owner lets go, so that the site that asked for the folder gets it. */
const STAND_BACK_MS = 300;

/**
 * Opens the embedded database of a data folder. Throws EmbeddedDatabaseError, whose message is for the operator.
 * The database runs in a session of its own: when this process dies without `stop`, it goes on, and the next one to
 * open the folder takes it over.
 */
export async function openEmbedded(
  options: EmbeddedOptions,
  machine: Machine = thisMachine,
): Promise<EmbeddedDatabase> {
  const { mode, log } = options;
  const dataDir = await prepareDataDir(options.dataDir);
  let note = '';
  let stopping: Promise<void> | undefined;
  /** Undefined while the folder changes hands. */
  let session: Session | undefined = await enter().catch((error: unknown) => {
    throw asEmbeddedDatabaseError(error, dataDir);
  });
  const { url, location } = reachableIn(session);
  let changing: Promise<void> = Promise.resolve();
  attend();

  async function enter(): Promise<Session> {
    for (;;) {
      const attempt = await becomeOwner(dataDir, mode === 'own' ? 'site' : 'command', note);
      if ('owned' in attempt) return own(attempt.owned);
      if (mode === 'own') await waitForWayIn(attempt.owner, dataDir);
      else {
        const reachable = await waitToShare(attempt.owner, dataDir);
        if (reachable) return { kind: 'sharer', reachable, owner: attempt.owner };
      }
    }
  }

  async function own(ownership: Ownership): Promise<Session> {
    try {
      const cluster = await runCluster(dataDir, options.durability ?? 'full', machine, log);
      ownership.announce({ url: cluster.url, location: cluster.location });
      return { kind: 'owner', cluster, ownership };
    } catch (error) {
      ownership.release();
      throw error;
    }
  }

  /** Follows what becomes of the folder while it is open: a site may take it from a command, an owner may go away. */
  function attend(): void {
    const current = session;
    if (!current) return;
    if (current.kind === 'owner') {
      current.ownership.onWanted(() => {
        if (!stopping && session === current)
          change(async () => {
            await current.cluster.leave();
            current.ownership.release();
          });
      });
    } else {
      void current.owner.gone.then(() => {
        if (!stopping && session === current) change(async () => undefined);
      });
    }
  }

  function change(leave: () => Promise<void>): void {
    changing = (async () => {
      session = undefined;
      await leave();
      await delay(STAND_BACK_MS);
      // Also when `stop` was called meanwhile: if nobody else came, the server is ours to stop.
      session = await enter();
      attend();
    })().catch((error: unknown) => log.error({ err: error }, 'The embedded database could not be taken over.'));
  }

  async function stop(): Promise<void> {
    await changing;
    if (!session) return;
    if (session.kind === 'sharer') return session.owner.close();
    const { cluster, ownership } = session;
    const sharers = ownership.sharers();
    if (sharers > 0) {
      log.info(`Left the embedded PostgreSQL to ${sharers} command(s) at work, the last of which stops it.`);
      await cluster.leave();
    } else {
      ownership.setStopping();
      await cluster.stop();
    }
    ownership.release();
  }

  return {
    url,
    location,
    setOwnerNote(text) {
      note = text;
      if (session?.kind === 'owner') session.ownership.setNote(text);
    },
    stop() {
      stopping ??= stop();
      return stopping;
    },
  };
}

/** Returns when the folder may be free; throws when it is a site's, which will not give it away. */
async function waitForWayIn(owner: OwnerConnection, dataDir: string): Promise<void> {
  const status = await owner.ask('own');
  if (status !== 'gone' && (status === 'silent' || (status.role === 'site' && !status.stopping))) {
    await owner.close();
    throw held(dataDir, status);
  }
  await owner.gone;
}

/** Returns how the database is reached, or undefined when its owner went away before it was up. */
async function waitToShare(owner: OwnerConnection, dataDir: string): Promise<Reachable | undefined> {
  const status = await owner.ask('share');
  if (status !== 'silent') return owner.reachable();
  await owner.close();
  throw held(dataDir, status);
}

function held(dataDir: string, status: OwnerStatus | 'silent'): EmbeddedDatabaseError {
  const what =
    status === 'silent'
      ? 'a process that does not answer: end it'
      : `process ${status.pid}${status.note === '' ? '' : ` (${status.note})`} since ${status.since}: stop that one`;
  return new EmbeddedDatabaseError(
    'data_dir_held',
    `The database in ${dataDir} is held by ${what} first, or set DATA_DIR to another folder.`,
  );
}

/** What the system refused and nobody foresaw still comes as one line. */
function asEmbeddedDatabaseError(error: unknown, dataDir: string): EmbeddedDatabaseError {
  if (error instanceof EmbeddedDatabaseError) return error;
  const reason = error instanceof Error ? error.message : String(error);
  return new EmbeddedDatabaseError(
    'start_failed',
    `The embedded database in ${dataDir} could not be opened (${reason}): DATA_DIR must be on a local disk with free space ` +
      'that knows links and unix sockets.',
    { cause: error },
  );
}

function reachableIn(session: Session): Reachable {
  return session.kind === 'owner' ? session.cluster : session.reachable;
}
