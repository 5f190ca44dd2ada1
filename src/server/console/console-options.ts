import type { FastifyBaseLogger } from 'fastify';
import type { Finding } from '../../contract/console/records.ts';
import type { LaunchOptions } from '../../core/core.ts';
import type { Connection } from '../../core/database/connect.ts';
import type { Database } from '../../core/database/database.ts';
import type { PicturePipeline } from '../../core/pictures/picture-store.ts';
import type { Runtime } from '../../core/runtime.ts';
import type { RecordEvents } from '../../core/webhooks/outbox.ts';
import type { TrustedProxies } from '../../settings/trusted-proxies.ts';
import type { ConsoleStreams } from './console-streams.ts';

/** The parts of the site that the console needs. */
export interface ConsoleOptions {
  database: Database;
  /** Runs work whose duration grows with the number of rows, on a connection without a statement timeout. */
  withoutStatementTimeout: Connection['withoutStatementTimeout'];
  runtime: Runtime;
  log: FastifyBaseLogger;
  trustProxy?: TrustedProxies | undefined;
  siteName: string;
  siteLogo: string | undefined;
  siteUrl: () => string;
  streams: ConsoleStreams;
  launches: Pick<LaunchOptions, 'timeZone' | 'reviewHours' | 'votesPerNetwork'>;
  /** If unset, no webhooks are sent. */
  recordEvents?: RecordEvents | undefined;
  /** Processes the pictures that operators upload. */
  pictures: PicturePipeline;
  /** The folder of scheduled backups; undefined if no backups are scheduled. */
  backupFolder?: string | undefined;
  /** The folder of the site's own pictures, for backups and edits; undefined if there is none. */
  pictureFolder?: string | undefined;
  /** Runs the checks of `groundswell doctor` and yields their findings. */
  examine: () => AsyncIterable<Finding>;
  /** The HTML document, which all screens share. */
  document: () => Promise<string>;
  /** The folder of the console's build; undefined if a development server serves its files. */
  consoleDir: string | undefined;
}
