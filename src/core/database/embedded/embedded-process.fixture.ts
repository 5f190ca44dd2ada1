import { createInterface } from 'node:readline';
import type { Log } from '../../runtime.ts';
import { thisHost } from './cluster-location.ts';
import { EmbeddedDatabaseError } from './embedded-database-error.ts';
import { type EmbeddedOptions, openEmbedded } from './open-embedded.ts';

/**
 * A process for tests that holds an embedded database, to be watched, queried and killed. Its one argument is the
 * options as JSON. It reports events as lines of JSON, and stops in order on a line of input.
 */
function tell(event: object): void {
  process.stdout.write(`${JSON.stringify(event)}\n`);
}

const line = (level: string) => (fields: object | string, message?: string) =>
  tell({ event: 'log', level, message: message ?? fields });
const log: Log = { info: line('info'), warn: line('warn'), error: line('error') };
const given: Omit<EmbeddedOptions, 'log'> & { namespaces?: boolean; elsewhere?: string } = JSON.parse(
  process.argv[2] ?? '{}',
);

// A Ctrl-C reaches this process, too; its own reaction is not under test.
process.on('SIGINT', () => tell({ event: 'interrupted' }));
try {
  const database = await openEmbedded({ ...given, log }, { ...thisHost, ...given });
  tell({ event: 'open', url: database.url, location: database.location });
  createInterface({ input: process.stdin }).once('line', async () => {
    await database.stop();
    tell({ event: 'stopped' });
    process.exit(0);
  });
} catch (error) {
  const code = error instanceof EmbeddedDatabaseError ? error.code : 'unexpected';
  tell({ event: 'failed', code, message: error instanceof Error ? error.message : String(error) });
  process.exit(2);
}
