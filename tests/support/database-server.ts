import type { TestProject } from 'vitest/node';
import { startThrowawayCluster } from '../../src/core/database/embedded/throwaway.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** A PostgreSQL server on which every test file makes a database of its own. */
    databaseServerUrl: string;
    /** The workers of Citus, `host:port`, where that server is their coordinator. */
    citusWorkers: readonly string[];
  }
}

/**
 * One real PostgreSQL for the whole run: the embedded one, or the server that DATABASE_URL names. With CITUS_WORKERS
 * (`host:port,host:port`), that server is the coordinator of a Citus cluster, and all databases are made on the workers as well.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const { DATABASE_URL: url, CITUS_WORKERS: workers = '' } = process.env;
  project.provide(
    'citusWorkers',
    workers.split(',').filter((address) => address !== ''),
  );
  if (url) {
    project.provide('databaseServerUrl', url);
    return async () => {};
  }
  const cluster = await startThrowawayCluster({ durability: 'none' });
  project.provide('databaseServerUrl', cluster.url);
  return () => cluster.stop();
}
