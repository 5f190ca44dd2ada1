import { createInterface } from 'node:readline';
import { OPERATOR_TERMS } from '../../src/core/database/connect.ts';
import { thisHost } from '../../src/core/database/embedded/cluster-location.ts';
import { EmbeddedDatabaseError } from '../../src/core/database/embedded/embedded-database-error.ts';
import { type EmbeddedOptions, openEmbedded } from '../../src/core/database/embedded/open-embedded.ts';
import type { Log } from '../../src/core/runtime.ts';

// A test process that opens an embedded database with the options in its JSON argument, and shuts down when it reads a
// line from standard input, or when standard input ends because the test run was killed.

/** Reports an event as a line of JSON. */
function sendEvent(event: object): void {
  process.stdout.write(`${JSON.stringify(event)}\n`);
}

const line = (level: string) => (fields: object | string, message?: string) =>
  sendEvent({ event: 'log', level, message: message ?? fields });
const log: Log = { info: line('info'), warn: line('warn'), error: line('error') };
const given: Omit<EmbeddedOptions, 'log'> & { namespaces?: boolean; stateFolder?: string } = JSON.parse(
  process.argv[2] ?? '{}',
);

// A test sends this signal to the process group, like Ctrl-C in a terminal. This process must survive it.
process.on('SIGINT', () => sendEvent({ event: 'interrupted' }));
try {
  const database = await openEmbedded({ ...given, log, terms: OPERATOR_TERMS }, { ...thisHost, ...given });
  sendEvent({ event: 'open', url: database.url, location: database.location });
  const input = createInterface({ input: process.stdin });
  input.once('line', () => input.close());
  input.once('close', async () => {
    await database.stop();
    sendEvent({ event: 'stopped' });
    process.exit(0);
  });
} catch (error) {
  const code = error instanceof EmbeddedDatabaseError ? error.code : 'unexpected';
  sendEvent({ event: 'failed', code, message: error instanceof Error ? error.message : String(error) });
  process.exit(2);
}
