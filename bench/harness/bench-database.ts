import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { type Database, openDatabase } from '../../src/core/database/database.ts';
import { migrate } from '../../src/core/database/migrate.ts';
import { completeProduct, saveProducts } from '../../src/core/products/save-products.ts';
import { PACKAGE_FOLDERS } from '../../src/settings/package-root.ts';
import { startThrowawayCluster } from '../../tests/support/throwaway-cluster.ts';
import { withDatabase, withServer } from '../../tests/support/with-server.ts';

export const BENCH_LOG = pino({ level: 'error' });

export interface BenchServer {
  /** Creates a database with the schema and `productCount` products, with the ids `p-0`, `p-1` and so on. */
  createDatabase(productCount: number): Promise<BenchDatabase>;
  stop(): Promise<void>;
}

export interface BenchDatabase extends Database {
  url: string;
}

/** Starts a PostgreSQL server in a temporary folder with the settings of the embedded database, including fsync. */
export async function startBenchServer(): Promise<BenchServer> {
  const cluster = await startThrowawayCluster({ durability: 'full' });
  const opened: Database[] = [];
  return {
    async createDatabase(productCount) {
      const name = `bench_${randomUUID().replaceAll('-', '')}`;
      const database = await createMigratedDatabase(cluster.url, name, 2);
      opened.push(database);
      const products = Array.from({ length: productCount }, (_, index) =>
        completeProduct({ id: `p-${index}`, name: `Product ${index}` }, new Date(index * 60_000)),
      );
      await saveProducts(database, products);
      await database.query('ANALYZE');
      return database;
    },
    async stop() {
      for (const database of opened) await database.close();
      await cluster.stop();
    },
  };
}

/** Creates an empty database with the schema. Its statements have no timeout. */
export async function createMigratedDatabase(
  serverUrl: string,
  name: string,
  maxConnections: number,
): Promise<BenchDatabase> {
  await withServer(serverUrl, (server) => server.query(`CREATE DATABASE ${name}`));
  const url = withDatabase(serverUrl, name);
  const database = openDatabase({ url, log: BENCH_LOG, maxConnections, statementTimeoutMs: 0 });
  await migrate(database, PACKAGE_FOLDERS.migrations, BENCH_LOG);
  return { ...database, url };
}
