import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** A client that leaves more than this unread does not keep up; the next frames would only be more memory. */
const MAX_UNREAD_BYTES = 64 * 1024;

/**
 * One open answer that goes on. Its bytes are written to the socket itself: they are shared by many streams, and the length
 * of each chunk, which an answer would add, makes them no clearer to anybody. So the answer ends with its connection.
 */
export class EventStream {
  readonly #response: ServerResponse;
  readonly #socket: Socket;

  /** `response` has its status and headers. */
  constructor(response: ServerResponse, socket: Socket) {
    this.#response = response;
    this.#socket = socket;
  }

  onClose(listener: () => void): void {
    this.#response.once('close', listener);
  }

  /** Sends the head of the answer with the first bytes behind it. */
  begin(bytes: Buffer): void {
    this.#response.write(bytes);
  }

  /** @returns false where the client does not keep up: it is let go. */
  send(bytes: Buffer): boolean {
    // Gone already, and not for this: its end has only not been told yet.
    if (this.#socket.destroyed) return true;
    if (this.#socket.writableLength > MAX_UNREAD_BYTES) {
      this.#socket.destroy();
      return false;
    }
    this.#socket.write(bytes);
    return true;
  }

  end(bytes: Buffer): void {
    this.#response.end(bytes);
  }
}
