import { connect, type Socket } from 'node:net';

/** What came back: the body is kept only for those who ask. */
export interface Answer {
  status: number;
  body: string;
}

/**
 * One keep-alive connection of HTTP/1.1 that asks one thing after the other. Far cheaper than a general client, so that
 * what is measured is the server: it understands answers with a Content-Length, which is all that is asked for here.
 */
export class HttpConnection {
  readonly #socket: Socket;
  #received = '';
  #waiting: { resolve(answer: Answer): void; reject(error: Error): void } | undefined;

  /** `localAddress` decides from which network it comes: all of 127.0.0.0/8 is this machine. */
  constructor(address: string, localAddress = '127.0.0.1') {
    const { hostname, port } = new URL(address);
    this.#socket = connect({ port: Number(port), host: hostname, localAddress })
      .setNoDelay(true)
      .setEncoding('latin1');
    this.#socket.on('data', (text: string) => this.#onData(text));
    this.#socket.on('error', (error) => this.#fail(error));
    this.#socket.on('close', () => this.#fail(new Error('The server closed the connection')));
  }

  ask(request: string): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      this.#socket.write(request, 'latin1');
    });
  }

  close(): void {
    this.#waiting = undefined;
    this.#socket.destroy();
  }

  #onData(text: string): void {
    this.#received += text;
    const headEnd = this.#received.indexOf('\r\n\r\n');
    if (headEnd === -1) return;
    const length = Number(/\r\ncontent-length: (\d+)/i.exec(this.#received)?.[1] ?? 0);
    const end = headEnd + 4 + length;
    if (this.#received.length < end) return;
    const answer = { status: Number(this.#received.slice(9, 12)), body: this.#received.slice(headEnd + 4, end) };
    this.#received = this.#received.slice(end);
    this.#waiting?.resolve(answer);
  }

  #fail(error: Error): void {
    this.#waiting?.reject(error);
    this.#waiting = undefined;
  }
}

/** The text of a request; `body` is sent as JSON. */
export function requestText(
  method: string,
  path: string,
  session: string,
  body?: string,
  acceptEncoding = 'identity',
): string {
  const head = `${method} ${path} HTTP/1.1\r\nHost: bench\r\nAccept-Encoding: ${acceptEncoding}\r\nX-User-Session: ${session}\r\n`;
  if (body === undefined) return method === 'POST' ? `${head}Content-Length: 0\r\n\r\n` : `${head}\r\n`;
  return `${head}Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}
