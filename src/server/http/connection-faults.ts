import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { ConnectionError } from 'fastify';
import type { ProblemCode } from '../../contract/problem.ts';
import { PROBLEM_MEDIA_TYPE, problem } from './problems.ts';

/**
 * Answers what is no request at all, or came too slowly, and lets the connection go. Nothing is logged: the error carries
 * the raw bytes, with whatever was in them.
 */
export function handleConnectionFault(error: ConnectionError, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return;
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const [code, detail] = explain(error);
  const body = JSON.stringify(problem(code, detail));
  const { status } = problem(code, detail);
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    `Content-Type: ${PROBLEM_MEDIA_TYPE}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Cache-Control: no-store',
    'X-Content-Type-Options: nosniff',
    'Connection: close',
  ];
  // Not only ended: a client that never closes its side would hold the connection.
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy());
}

function explain({ code, rawPacket }: ConnectionError): [ProblemCode, string] {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return ['request_timeout', 'The request took too long to arrive'];
  if (code !== 'HPE_HEADER_OVERFLOW') return ['bad_request', 'This is not a valid HTTP request'];
  // A first line that does not end is an address that is too long.
  // Node gives a buffer, whatever Fastify's type says.
  const bytes: unknown = rawPacket;
  const isFirstLine = Buffer.isBuffer(bytes) && !bytes.includes('\r\n') && bytes.includes(' /');
  return isFirstLine
    ? ['uri_too_long', 'The address is too long']
    : ['headers_too_large', 'The headers are larger than 16 KiB'];
}
