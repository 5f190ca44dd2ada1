import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { pino } from 'pino';
import { type Database, openDatabase } from '../../src/core/database/database.ts';
import { migrate } from '../../src/core/database/migrate.ts';
import { completeProduct, saveProducts } from '../../src/core/products/save-products.ts';
import { startThrowawayCluster } from '../../tests/support/throwaway-cluster.ts';

const log = pino({ level: 'error' });
const MIGRATIONS = join(import.meta.dirname, '../../migrations');

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
      const administrator = openDatabase({ url: cluster.url, log, maxConnections: 1 });
      await administrator.query(`CREATE DATABASE ${name}`);
      await administrator.close();
      const url = new URL(cluster.url);
      url.pathname = `/${name}`;
      const database = openDatabase({ url: url.href, log, maxConnections: 2, statementTimeoutMs: 0 });
      opened.push(database);
      await migrate(database, MIGRATIONS, log);
      const products = Array.from({ length: productCount }, (_, index) =>
        completeProduct({ id: `p-${index}`, name: `Product ${index}` }, new Date(index * 60_000)),
      );
      await saveProducts(database, products);
      await database.query('ANALYZE');
      return { ...database, url: url.href };
    },
    async stop() {
      for (const database of opened) await database.close();
      await cluster.stop();
    },
  };
}
