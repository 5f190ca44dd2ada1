import { createServer, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { claimOwnership } from './owner-claim.ts';

/** How a running database is reached. The URL contains the password. */
export interface Reachable {
  readonly url: string;
  readonly location: string;
}

/** The owner of a data folder, as reported to others. */
export interface OwnerStatus {
  readonly pid: number;
  /** ISO time of the claim. */
  readonly since: string;
  /** `site` owns the folder until it is stopped; `command` gives it up when a site requests it. */
  readonly role: 'site' | 'command';
  /** Free text set by the owner, such as its address. */
  readonly note: string;
  readonly stopping: boolean;
}

export type Request = 'own' | 'share';
interface Answer {
  readonly status?: OwnerStatus;
  readonly ready?: Reachable;
}

export interface Ownership {
  setNote(note: string): void;
  /** Notifies sharing processes, now and later, that the database can be reached. */
  announce(reachable: Reachable): void;
  /** Resolves when a site requests the folder that a command holds. */
  readonly wanted: Promise<void>;
  /** The number of other processes that use the database. */
  sharers(): number;
  /** Makes processes that connect from now on wait until the owner is gone. */
  setStopping(): void;
  /** Releases the folder: every connected process is notified and may claim it. */
  release(): void;
}

/** The connection of another process to an owner. */
export interface OwnerConnection {
  /** Requests the owner's status: `gone` if it disappeared, `silent` (and closed) if it lives but does not respond. */
  ask(request: Request): Promise<OwnerStatus | 'gone' | 'silent'>;
  /** Waits until the database can be reached; undefined if the owner disappeared instead. */
  reachable(): Promise<Reachable | undefined>;
  /** Settles when the owner released the folder or died. */
  readonly gone: Promise<void>;
  /** Closes the connection, and returns once the owner has noticed. */
  close(): Promise<void>;
}

export type Attempt = { readonly owned: Ownership } | { readonly owner: OwnerConnection };

const ANSWER_MS = 2_000;

/** Becomes the owner of a data folder, or connects to its owner. */
export async function becomeOwner(dataDir: string, role: OwnerStatus['role'], note: string): Promise<Attempt> {
  let status: OwnerStatus = { pid: process.pid, since: new Date().toISOString(), role, note, stopping: false };
  let ready: Reachable | undefined;
  let requestHandOver = () => {};
  const wanted = new Promise<void>((resolve) => {
    requestHandOver = resolve;
  });
  const connections = new Set<Socket>();
  const sharing = new Set<Socket>();

  const server = createServer((socket) => {
    connections.add(socket);
    socket.unref();
    socket.on('close', () => {
      connections.delete(socket);
      sharing.delete(socket);
    });
    onLine(socket, (line) => {
      send(socket, { status });
      if (line === 'share' && !status.stopping) {
        sharing.add(socket);
        if (ready) send(socket, { ready });
      } else if (line === 'own' && role === 'command' && !status.stopping) {
        requestHandOver();
      }
    });
  });
  const claim = await claimOwnership(dataDir, server);
  if (!claim.won) return { owner: connectionTo(claim.owner) };
  server.unref();
  return {
    owned: {
      setNote(text) {
        status = { ...status, note: text };
      },
      announce(reachable) {
        ready = reachable;
        for (const socket of sharing) send(socket, { ready });
      },
      wanted,
      sharers: () => sharing.size,
      setStopping() {
        status = { ...status, stopping: true };
      },
      release() {
        claim.release();
        for (const socket of connections) socket.destroy();
      },
    },
  };
}

function connectionTo(socket: Socket): OwnerConnection {
  let answer: Answer = {};
  let changed: () => void = () => undefined;
  let isGone = false;
  const gone = new Promise<void>((resolve) => {
    socket.on('close', () => {
      isGone = true;
      resolve();
      changed();
    });
  });
  onLine(socket, (line) => {
    const part: Answer = JSON.parse(line);
    answer = { ...answer, ...part };
    changed();
  });
  async function until<T>(find: () => T | undefined): Promise<T | undefined> {
    for (;;) {
      const found = find();
      if (found !== undefined || isGone) return found;
      await new Promise<void>((resolve) => {
        changed = resolve;
      });
    }
  }
  return {
    gone,
    async ask(request) {
      answer = {};
      socket.write(`${request}\n`);
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<'silent'>((resolve) => {
        timer = setTimeout(resolve, ANSWER_MS, 'silent');
      });
      const status = await Promise.race([until(() => answer.status), late]);
      clearTimeout(timer);
      if (status === 'silent') socket.destroy();
      return status ?? 'gone';
    },
    async reachable() {
      const found = await until(() => answer.ready);
      socket.unref();
      return found;
    },
    async close() {
      const impatient = setTimeout(() => socket.destroy(), ANSWER_MS);
      socket.ref();
      socket.end();
      await gone;
      clearTimeout(impatient);
    },
  };
}

function send(socket: Socket, answer: Answer): void {
  socket.write(`${JSON.stringify(answer)}\n`);
}

/**
 * Calls `take` for each line. If the other end dies, the socket emits an error, which readline forwards, and then
 * 'close', which callers handle; so errors are ignored.
 */
function onLine(socket: Socket, take: (line: string) => void): void {
  socket.on('error', () => undefined);
  createInterface({ input: socket })
    .on('error', () => undefined)
    .on('line', take);
}
