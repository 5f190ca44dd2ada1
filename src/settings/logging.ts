import { type DestinationStream, type Logger, pino, stdSerializers } from 'pino';
import type { LogLevel } from './settings.ts';

/**
 * The log of a process: JSON lines, or readable ones on a terminal. It holds no session id and no address of a visitor:
 * requests are logged by method and path only, and of a database error everything but its values.
 */
export function createLog(level: LogLevel, stream: NodeJS.WriteStream & { fd: number }): Logger {
  const options = { level, base: null, serializers: { err: describeError, req: describeRequest } };
  if (!stream.isTTY) return pino(options, stream as DestinationStream);
  const transport = pino.transport({
    target: 'pino-pretty',
    options: { destination: stream.fd, ignore: 'pid,hostname', translateTime: 'HH:MM:ss', singleLine: true },
  });
  return pino(options, transport);
}

/** PostgreSQL names the values of a failed row in `detail` and `where`: a session id could be among them. */
function describeError(error: Error): object {
  const {
    detail: _detail,
    where: _where,
    raw: _raw,
    ...rest
  } = stdSerializers.err(error) as unknown as Record<string, unknown>;
  return rest;
}

function describeRequest(request: { method?: string; url?: string }): object {
  return { method: request.method, path: request.url?.split('?', 1)[0] };
}
