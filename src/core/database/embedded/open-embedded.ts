import { access, constants, realpath } from 'node:fs/promises';
import { resolve } from 'node:path';
import { makeTraversableFolder, readOnlyAdvice, systemCode } from '../../file-system.ts';
import type { Log } from '../../runtime.ts';
import { type HostEnvironment, thisHost } from './cluster-location.ts';
import { EmbeddedDatabaseError, noDatabase, type OperatorTerms } from './embedded-database-error.ts';
import type { Mode } from './ownership.ts';
import type { Durability } from './server-settings.ts';
import { closeSession, maintainSession, openSession, type SessionOptions } from './session.ts';

export interface EmbeddedOptions {
  /** The name of the role, the database and files. It must not change, and consists of a–z, 0–9 and `_`. */
  readonly name: string;
  /** The data folder, created if missing and `create` is true. Its subfolder `postgres` is the cluster, if possible. */
  readonly dataDir: string;
  /** How this process uses the database, for example `own` for a server, and `share` for a command-line tool. */
  readonly mode: Mode;
  readonly log: Log;
  /** The names of settings and the instructions that appear in messages to the operator. */
  readonly terms?: OperatorTerms;
  /** Default `full`. */
  readonly durability?: Durability;
  /** Whether to create a missing database; default true. */
  readonly create?: boolean;
  /** Ends the wait for another process that uses the folder. */
  readonly signal?: AbortSignal | undefined;
}

export interface EmbeddedDatabase {
  /** A `postgres://` URL that contains the password: never log it. */
  readonly url: string;
  /** The folder of the cluster, for messages to the operator. */
  readonly location: string;
  /** In mode `own`, sets a note about this process, such as its URL, for the error message of a second process. */
  setOwnerNote(note: string): void;
  /**
   * Shuts PostgreSQL down if this process owns it and no other process uses it; otherwise leaves it running.
   * Idempotent.
   */
  stop(): Promise<void>;
}

/** Names that need no quotes in SQL, URLs and paths. */
const NAME = /^[a-z][a-z0-9_]{0,62}$/;

/**
 * Opens the embedded database of a data folder. The server runs in its own session: if this process dies without
 * `stop`, the server continues, and the next process to open the folder adopts it.
 * @throws EmbeddedDatabaseError with a message for the operator; the reason of `signal`.
 */
export async function openEmbedded(
  options: EmbeddedOptions,
  host: HostEnvironment = thisHost,
): Promise<EmbeddedDatabase> {
  const { name, mode, durability = 'full', create = true, log, terms, signal } = options;
  if (!NAME.test(name)) throw new TypeError(`name: ${name} must match ${NAME}`);
  const inTerms = (error: unknown) =>
    error instanceof EmbeddedDatabaseError && terms ? error.inTermsOf(terms) : error;
  const fail = (error: unknown): never => {
    throw inTerms(error);
  };
  const dataDir = await prepareDataDir(options.dataDir, create).catch(fail);
  const sessionOptions: SessionOptions = { name, dataDir, mode, durability, create, log, host };
  const first = await openSession(sessionOptions, signal).catch((error) => {
    signal?.throwIfAborted();
    return fail(asEmbeddedDatabaseError(error, dataDir));
  });
  const { url, location } = first.kind === 'owner' ? first.cluster : first.reachable;
  const end = new AbortController();
  const last = maintainSession(first, sessionOptions, end.signal).catch((error: unknown) => {
    log.error(
      { err: inTerms(error) },
      'Cannot reopen the embedded database after another process stopped or took it over',
    );
    return undefined;
  });
  let stopping: Promise<void> | undefined;
  return {
    url,
    location,
    setOwnerNote(note) {
      // In mode `own`, the session is never lost, so the first one is still current.
      if (first.kind === 'owner') first.ownership.setNote(note);
    },
    stop() {
      end.abort();
      stopping ??= last.then((session) => session && closeSession(session, log));
      return stopping;
    },
  };
}

/**
 * Returns the real path of the data folder, which is created if it is missing and `create` is true.
 * @throws EmbeddedDatabaseError `data_dir_unwritable` or `no_database`.
 */
async function prepareDataDir(dataDir: string, create: boolean): Promise<string> {
  const folder = resolve(dataDir);
  try {
    if (create) await makeTraversableFolder(folder);
    await access(folder, constants.R_OK | constants.W_OK | constants.X_OK);
    return await realpath(folder);
  } catch (error) {
    if (!create && systemCode(error) === 'ENOENT') throw noDatabase(folder);
    throw new EmbeddedDatabaseError(
      'data_dir_unwritable',
      (terms) =>
        `Cannot write to the data folder ${folder} (${systemCode(error) ?? error}): set ${terms.dataDir} to a folder that this user can write to, or change the folder's owner.${readOnlyAdvice(error)}`,
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
