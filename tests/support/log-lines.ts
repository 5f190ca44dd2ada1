import { PassThrough } from 'node:stream';
import type { Logger } from 'pino';
import { createLog } from '../../src/settings/logging.ts';

/** Creates the site's log and stores its lines, so a test can read them. */
export function createLogLines(): { log: Logger; lines: () => Record<string, unknown>[]; text: () => string } {
  let text = '';
  const stream = new PassThrough().setEncoding('utf8').on('data', (chunk) => (text += chunk));
  // The stream is not a terminal, so the log is written as JSON lines.
  const log = createLog('trace', stream as unknown as NodeJS.WriteStream & { fd: number });
  return {
    log,
    text: () => text,
    lines: () => text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)])),
  };
}
