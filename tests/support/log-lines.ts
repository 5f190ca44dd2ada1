import { PassThrough } from 'node:stream';
import type { Logger } from 'pino';
import { createLog } from '../../src/settings/logging.ts';

/** The site's own log, its lines kept for a test to read. */
export function createLogLines(): { log: Logger; lines: () => Record<string, unknown>[]; text: () => string } {
  let text = '';
  const stream = new PassThrough().setEncoding('utf8').on('data', (chunk) => (text += chunk));
  // No terminal, so JSON lines: a stream is all that it needs to be.
  const log = createLog('trace', stream as unknown as NodeJS.WriteStream & { fd: number });
  return {
    log,
    text: () => text,
    lines: () => text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)])),
  };
}
