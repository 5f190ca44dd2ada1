import { connect, type Socket } from 'node:net';

export interface HttpResponse {
  status: number;
  /** The status line and the header fields, unparsed. */
  head: string;
  body: string;
}

/**
 * A keep-alive HTTP/1.1 connection with at most one request in flight. Supports only responses with `Content-Length`,
 * so it uses far less CPU time than a general client and does not limit the measured throughput.
 */
export class HttpConnection {
  readonly #socket: Socket;
  #received = '';
  #waiting: { resolve(response: HttpResponse): void; reject(error: Error): void } | undefined;

  /** `localAddress`, any address in 127.0.0.0/8, selects the network that the requests come from. */
  constructor(address: string, localAddress = '127.0.0.1') {
    const { hostname, port } = new URL(address);
    this.#socket = connect({ port: Number(port), host: hostname, localAddress })
      .setNoDelay(true)
      .setEncoding('latin1');
    // If no process listens on an ephemeral port, Linux may connect the socket to itself.
    this.#socket.on('connect', () => {
      const { localAddress: from, localPort, remoteAddress } = this.#socket;
      if (from === remoteAddress && localPort === Number(port)) {
        this.#socket.destroy(new Error('No process listens on this port'));
      }
    });
    this.#socket.on('data', (text: string) => this.#onData(text));
    this.#socket.on('error', (error) => this.#fail(error));
    this.#socket.on('close', () => this.#fail(new Error('The server closed the connection')));
  }

  get isOpen(): boolean {
    return !this.#socket.destroyed && !this.#socket.readableEnded;
  }

  /** Sends a request. Rejects if the connection is already closed, or closes before the response is complete. */
  send(request: string): Promise<HttpResponse> {
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      // A closed socket emits no further event, so only this callback reports the error.
      this.#socket.write(request, (error) => error && this.#fail(error));
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
    const response = {
      status: Number(this.#received.slice(9, 12)),
      head: this.#received.slice(0, headEnd),
      body: this.#received.slice(headEnd + 4, end),
    };
    this.#received = this.#received.slice(end);
    this.#waiting?.resolve(response);
    this.#waiting = undefined;
  }

  #fail(error: Error): void {
    this.#waiting?.reject(error);
    this.#waiting = undefined;
  }
}

/** Opens a connection for each concurrent request, so a request never waits for the response to another one. */
export class ConnectionPool {
  readonly #address: string;
  readonly #idle: HttpConnection[] = [];

  constructor(address: string) {
    this.#address = address;
  }

  async send(request: string): Promise<HttpResponse> {
    // The most recently used connection is the least likely to have reached the server's keep-alive timeout.
    let connection = this.#idle.pop();
    while (connection !== undefined && !connection.isOpen) connection = this.#idle.pop();
    connection ??= new HttpConnection(this.#address);
    const response = await connection.send(request);
    this.#idle.push(connection);
    return response;
  }

  close(): void {
    for (const connection of this.#idle.splice(0)) connection.close();
  }
}

/** Formats an HTTP/1.1 request. `body` is JSON text, and `fields` are further header fields. */
export function requestText(
  method: string,
  path: string,
  session: string,
  body?: string,
  acceptEncoding = 'identity',
  fields: Readonly<Record<string, string>> = {},
): string {
  const more = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  const head = `${method} ${path} HTTP/1.1\r\nHost: bench\r\nAccept-Encoding: ${acceptEncoding}\r\nX-User-Session: ${session}\r\n${more.join('')}`;
  if (body === undefined) return method === 'POST' ? `${head}Content-Length: 0\r\n\r\n` : `${head}\r\n`;
  return `${head}Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}
