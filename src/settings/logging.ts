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

/** What is said of an error. All else may hold secrets: PostgreSQL's `detail` names the values of a row, `client` is a whole connection. */
const ERROR_FIELDS = ['type', 'message', 'stack', 'code', 'severity', 'routine'] as const;

function describeError(error: Error): object {
  const known: Partial<Record<string, unknown>> = { ...stdSerializers.err(error) };
  return Object.fromEntries(
    ERROR_FIELDS.filter((name) => known[name] !== undefined).map((name) => [name, known[name]]),
  );
}

function describeRequest(request: { method?: string; url?: string }): object {
  return { method: request.method, path: request.url?.split('?', 1)[0] };
}
