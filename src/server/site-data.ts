import type { Logger } from 'pino';
import { loadSampleIfNew } from '../core/catalogue/load-sample.ts';
import { readSampleCatalogue } from '../core/catalogue/sample-catalogue.ts';
import { type Connection, connect } from '../core/database/connect.ts';
import { systemSources } from '../core/sources.ts';
import { PACKAGE_FOLDERS } from '../settings/package-root.ts';
import { CONNECTIONS_OF_FIRST_PROCESS, connectionsOf } from '../settings/process-settings.ts';
import type { Settings } from '../settings/settings.ts';
import { prepareBackupFolder } from './backups/schedule-backups.ts';
import { probeAddress } from './probe-address.ts';

/** The site's database, brought up and up to date. */
export interface SiteData {
  connection: Connection;
  productCount: number;
}

/**
 * Brings the database of a site up: the embedded one or that of `DATABASE_URL`, its schema, and the sample catalogue where it is new.
 * What would keep the site from coming up is said before.
 * @throws ConnectError, EmbeddedDatabaseError, StartError
 */
export async function openSiteData(settings: Settings, log: Logger): Promise<SiteData> {
  await lookAhead(settings);
  const { databaseUrl, dataDir, processes } = settings;
  const maxConnections = processes > 1 ? CONNECTIONS_OF_FIRST_PROCESS : connectionsOf(processes);
  const connection = await connect({ databaseUrl, dataDir, mode: 'own', log, maxConnections });
  try {
    return { connection, productCount: await prepareData(connection, settings) };
  } catch (error) {
    await connection.close();
    throw error;
  }
}

async function lookAhead({ host, port, metricsPort, metricsToken, backups }: Settings): Promise<void> {
  await probeAddress(host, port);
  if (metricsPort !== undefined) {
    await probeAddress(metricsToken === undefined ? '127.0.0.1' : host, metricsPort, 'METRICS_PORT');
  }
  if (backups) await prepareBackupFolder(backups);
}

async function prepareData(connection: Connection, settings: Settings): Promise<number> {
  await connection.migrate(PACKAGE_FOLDERS.migrations);
  if (connection.embedded && settings.sampleCatalogue) {
    const catalogue = await readSampleCatalogue(PACKAGE_FOLDERS.catalogue);
    await loadSampleIfNew(connection.database, catalogue, systemSources);
  }
  const [row] = await connection.database.query<{ products: number }>(
    'SELECT count(*)::integer AS products FROM products',
  );
  return row?.products ?? 0;
}
