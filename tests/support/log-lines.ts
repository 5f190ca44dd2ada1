import { PassThrough } from 'node:stream';
import type { Logger } from 'pino';
import { createLog } from '../../src/settings/logging.ts';

/** The site's own log, with its lines stored for a test to read. */
export function createLogLines(): { log: Logger; lines: () => Record<string, unknown>[]; text: () => string } {
  let text = '';
  const stream = new PassThrough().setEncoding('utf8').on('data', (chunk) => (text += chunk));
  // Not a terminal, so JSON lines.
  const log = createLog('trace', stream as unknown as NodeJS.WriteStream & { fd: number });
  return {
    log,
    text: () => text,
    lines: () => text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)])),
  };
}
