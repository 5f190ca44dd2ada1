import type { TestProject } from 'vitest/node';
import { startThrowawayCluster } from '../../src/core/database/embedded/throwaway.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** A PostgreSQL server on which every test file makes a database of its own. */
    databaseServerUrl: string;
  }
}

/** One real PostgreSQL for the whole run: the embedded one, or the server that DATABASE_URL names. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const url = process.env.DATABASE_URL;
  if (url) {
    project.provide('databaseServerUrl', url);
    return async () => {};
  }
  const cluster = await startThrowawayCluster({ durability: 'none' });
  project.provide('databaseServerUrl', cluster.url);
  return () => cluster.stop();
}
