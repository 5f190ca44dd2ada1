import { createServer, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { claimOwnership } from './owner-claim.ts';

/** Where a running database is reached. The URL holds the password. */
export interface Reachable {
  readonly url: string;
  readonly location: string;
}

/** Who owns a data folder, as told to others. */
export interface OwnerStatus {
  readonly pid: number;
  /** ISO time of the claim. */
  readonly since: string;
  /** `site` stays until it is stopped; `command` only has the database until somebody else wants to keep it. */
  readonly role: 'site' | 'command';
  /** Free text of the owner, such as its address. */
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
  /** Tells those who share, now and later, that the database can be reached. */
  announce(reachable: Reachable): void;
  /** Called when a site wants what a command holds. */
  onWanted(handOver: () => void): void;
  /** How many other processes use the database now. */
  sharers(): number;
  /** From now on newcomers wait until the owner is gone. */
  setStopping(): void;
  /** Lets go: everybody who is connected notices, and may claim. */
  release(): void;
}

/** One connection to an owner, from the side of another process. */
export interface OwnerConnection {
  /** Asks the owner; undefined when it went away (or did not answer in time) instead. */
  ask(request: Request): Promise<OwnerStatus | undefined>;
  /** Waits until the database can be reached; undefined when the owner went away instead. */
  reachable(): Promise<Reachable | undefined>;
  /** Settles when the owner let go or died. */
  readonly gone: Promise<void>;
  close(): void;
}

export type Attempt = { readonly owned: Ownership } | { readonly owner: OwnerConnection };

const ANSWER_MS = 3_000;

/** Becomes the owner of a data folder, or gets a connection to the process that is. */
export async function becomeOwner(dataDir: string, role: OwnerStatus['role'], note: string): Promise<Attempt> {
  let status: OwnerStatus = { pid: process.pid, since: new Date().toISOString(), role, note, stopping: false };
  let ready: Reachable | undefined;
  let handOver: (() => void) | undefined;
  let wanted = false;
  const connections = new Set<Socket>();
  const sharing = new Set<Socket>();

  const server = createServer((socket) => {
    connections.add(socket);
    socket.unref();
    socket.on('error', () => undefined); // A client that dies is a 'close', below.
    socket.on('close', () => {
      connections.delete(socket);
      sharing.delete(socket);
    });
    createInterface({ input: socket }).on('line', (line) => {
      send(socket, { status });
      if (line === 'share' && !status.stopping) {
        sharing.add(socket);
        if (ready) send(socket, { ready });
      } else if (line === 'own' && role === 'command' && !status.stopping) {
        wanted = true;
        handOver?.();
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
      onWanted(callback) {
        handOver = callback;
        if (wanted) callback();
      },
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
  createInterface({ input: socket }).on('line', (line) => {
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
      const late = new Promise<undefined>((resolve) => {
        timer = setTimeout(resolve, ANSWER_MS, undefined);
      });
      const status = await Promise.race([until(() => answer.status), late]);
      clearTimeout(timer);
      return status;
    },
    async reachable() {
      const found = await until(() => answer.ready);
      socket.unref();
      return found;
    },
    close: () => void socket.destroy(),
  };
}

function send(socket: Socket, answer: Answer): void {
  socket.write(`${JSON.stringify(answer)}\n`);
}
