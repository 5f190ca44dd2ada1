import { type DestinationStream, type Logger, pino, stdSerializers } from 'pino';
import { escapeUnits } from '../contract/text.ts';
import type { LogLevel } from './read-value.ts';

/**
 * Creates the logger of a process: JSON lines, or readable lines on a terminal. Logs contain no session ids and no
 * visitors' IP addresses: for a request, only the method and the path are logged; for an error, only `ERROR_FIELDS`.
 */
export function createLog(level: LogLevel, stream: NodeJS.WriteStream & { fd: number }): Logger {
  const options = { level, base: null, serializers: { err: describeError, req: describeRequest } };
  if (!stream.isTTY) return pino({ ...options, hooks: { streamWrite: escapeControls } }, stream as DestinationStream);
  const transport = pino.transport({
    target: 'pino-pretty',
    options: { destination: stream.fd, ignore: 'pid,hostname', translateTime: 'HH:MM:ss', singleLine: true },
  });
  return pino({ ...options, hooks: { streamWrite: escapeControlsForPretty } }, transport);
}

/** Escapes DEL, C1 controls, format characters and line separators, because JSON escapes only C0 controls. */
function escapeControls(line: string): string {
  return line.replaceAll(/[\u007f-\u009f\p{Cf}\u2028\u2029]/gu, escapeUnits);
}

/** Escapes JSON's escape sequences of control characters, except `\n`, again, because pino-pretty decodes them once. */
function escapeControlsForPretty(line: string): string {
  return escapeControls(line).replaceAll(/\\(u[\da-f]{4}|.)/gi, (escaped, code: string) =>
    /^(?:u|[bfrt]$)/i.test(code) ? `\\${escaped}` : escaped,
  );
}

/** The logged fields of an error. Other fields may contain secrets, such as column values in PostgreSQL's `detail`. */
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
