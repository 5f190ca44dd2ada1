import { EventEmitter, once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { type Claim, claimOwnership } from './owner-claim.ts';

/** The URL and folder of a running database. The URL contains the password: never log it. */
export interface DatabaseAddress {
  readonly url: string;
  readonly location: string;
}

/**
 * How a process uses a data folder. `own`: the process is the only owner until it stops. `share`: the process uses the
 * folder together with others; it becomes the owner if there is none, and gives the folder up when another process
 * wants to `own` it.
 */
export type Mode = 'own' | 'share';

/** The owner of a data folder, as reported to other processes. */
export interface OwnerStatus {
  readonly pid: number;
  /** The time of the claim (ISO 8601). */
  readonly since: string;
  readonly mode: Mode;
  /** Free text set by the owner, such as its URL. */
  readonly note: string;
  readonly stopping: boolean;
}

interface Response {
  readonly status?: OwnerStatus;
  readonly ready?: DatabaseAddress;
}

export type Attempt = { readonly owned: Ownership } | { readonly owner: OwnerConnection };

/** Long enough for a busy machine, because operators are told to stop a process that does not respond. */
const RESPONSE_TIMEOUT_MS = 10_000;

/** Becomes the owner of a data folder, or connects to its owner. */
export async function becomeOwner(name: string, dataDir: string, mode: Mode): Promise<Attempt> {
  const owned = new Ownership(mode);
  const claim = await owned.claim(name, dataDir);
  return claim.won ? { owned } : { owner: new OwnerConnection(claim.owner) };
}

/** This process as the owner of a data folder, and its connections to other processes. */
export class Ownership {
  #status: OwnerStatus;
  /** Undefined until the database can be reached. */
  #ready: DatabaseAddress | undefined;
  readonly #connections = new Set<Socket>();
  readonly #sharing = new Set<Socket>();
  #requestHandOver = () => {};
  #releaseClaim = () => {};
  /** Resolves when another process wants to `own` the folder that this one only shares. */
  readonly handOverRequested = new Promise<void>((resolve) => {
    this.#requestHandOver = resolve;
  });

  constructor(mode: Mode) {
    this.#status = { pid: process.pid, since: new Date().toISOString(), mode, note: '', stopping: false };
  }

  async claim(name: string, dataDir: string): Promise<Claim> {
    const server = createServer((socket) => this.#accept(socket));
    const claim = await claimOwnership(name, dataDir, server);
    if (claim.won) {
      server.unref();
      this.#releaseClaim = claim.release;
    }
    return claim;
  }

  setNote(note: string): void {
    this.#status = { ...this.#status, note };
  }

  /** Notifies current and future sharing processes that the database can be reached. */
  announce(ready: DatabaseAddress): void {
    this.#ready = ready;
    for (const socket of this.#sharing) send(socket, { ready });
  }

  /** Returns the number of other processes that use the database. */
  sharers(): number {
    return this.#sharing.size;
  }

  /** Makes processes that connect after this call wait until the owner is gone. */
  setStopping(): void {
    this.#status = { ...this.#status, stopping: true };
  }

  /** Releases the folder: every connected process is notified and may claim it. */
  release(): void {
    this.#releaseClaim();
    for (const socket of this.#connections) socket.destroy();
  }

  #accept(socket: Socket): void {
    this.#connections.add(socket);
    socket.unref();
    socket.on('close', () => {
      this.#connections.delete(socket);
      this.#sharing.delete(socket);
    });
    onLine(socket, (line) => this.#respond(socket, line));
  }

  #respond(socket: Socket, line: string): void {
    const status = this.#status;
    send(socket, { status });
    if (status.stopping) return;
    if (line === 'share') {
      this.#sharing.add(socket);
      if (this.#ready) send(socket, { ready: this.#ready });
    } else if (line === 'own' && status.mode === 'share') {
      this.#requestHandOver();
    }
  }
}

/** The connection of this process to another process that owns the data folder. */
export class OwnerConnection {
  readonly #socket: Socket;
  readonly #events = new EventEmitter();
  #response: Response = {};
  /** Resolves when the connection is closed: the owner has released the folder or died, or this process closed it. */
  readonly closed: Promise<void>;

  constructor(socket: Socket) {
    this.#socket = socket;
    this.closed = new Promise((resolve) => {
      socket.on('close', () => {
        resolve();
        this.#events.emit('changed');
      });
    });
    onLine(socket, (line) => {
      const part: Response = JSON.parse(line);
      this.#response = { ...this.#response, ...part };
      this.#events.emit('changed');
    });
  }

  /**
   * Tells the owner how this process wants to use the folder.
   * @returns the owner's status; `gone` if the owner disappeared; `silent` if it does not respond, in which case the
   * connection is closed.
   */
  async ask(mode: Mode): Promise<OwnerStatus | 'gone' | 'silent'> {
    this.#response = {};
    this.#socket.write(`${mode}\n`);
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<'silent'>((resolve) => {
      // If this process itself was blocked, `setImmediate` lets it first read a response that has already arrived.
      timer = setTimeout(() => setImmediate(resolve, 'silent'), RESPONSE_TIMEOUT_MS);
    });
    const status = await Promise.race([this.#receive('status'), timeout]);
    clearTimeout(timer);
    if (status === 'silent') this.#socket.destroy();
    return status ?? 'gone';
  }

  /** Resolves when the database can be reached, or with undefined if the owner disappears first. */
  async reachable(): Promise<DatabaseAddress | undefined> {
    const reachable = await this.#receive('ready');
    this.#socket.unref();
    return reachable;
  }

  /** Closes the connection, and waits for at most `RESPONSE_TIMEOUT_MS` until the owner has also closed it. */
  async close(): Promise<void> {
    const timer = setTimeout(() => this.#socket.destroy(), RESPONSE_TIMEOUT_MS);
    this.#socket.ref();
    this.#socket.end();
    await this.closed;
    clearTimeout(timer);
  }

  /** Resolves with a part of the owner's response, or with undefined if the owner disappears first. */
  async #receive<Part extends keyof Response>(part: Part): Promise<Response[Part]> {
    while (this.#response[part] === undefined && !this.#socket.closed) await once(this.#events, 'changed');
    return this.#response[part];
  }
}

function send(socket: Socket, response: Response): void {
  socket.write(`${JSON.stringify(response)}\n`);
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
