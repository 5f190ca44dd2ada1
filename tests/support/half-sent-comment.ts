import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect } from 'vitest';

export interface HalfSentComment {
  /** Returns the text that the site has sent so far. */
  received(): string;
  sendRest(): void;
  socket: Socket;
}

/** Sends the headers of a request to post a comment and the beginning of its body, so the request is in flight. */
export async function sendHalfComment(address: string): Promise<HalfSentComment> {
  const { hostname, port } = new URL(address);
  const socket = connect(Number(port), hostname);
  let received = '';
  socket.setEncoding('utf8').on('data', (text) => {
    received += text;
  });
  await once(socket, 'connect');
  const body = JSON.stringify({ productId: 'git', content: 'Half now, half later.' });
  const head = [
    'POST /api/comments HTTP/1.1',
    'Host: site',
    'Content-Type: application/json',
    'X-User-Session: session-stopping',
    `Content-Length: ${body.length}`,
    // Makes the site confirm that it has read the headers.
    'Expect: 100-continue',
  ];
  socket.write(`${head.join('\r\n')}\r\n\r\n`);
  await expect.poll(() => received).toContain('100 Continue');
  socket.write(body.slice(0, 10));
  return { received: () => received, sendRest: () => void socket.write(body.slice(10)), socket };
}
