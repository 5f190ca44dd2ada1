import { randomUUID } from 'node:crypto';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { migrate } from '../../src/core/database/migrate.ts';
import { silentLog } from './silent-log.ts';
import { startThrowawayCluster } from './throwaway-cluster.ts';
import { withDatabase, withServer } from './with-server.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The PostgreSQL server on which test files create their own databases. */
    databaseServerUrl: string;
    /** The server's `server_version_num`, such as 180000. */
    databaseServerVersion: number;
    /** The workers as `host:port` if the server is a Citus coordinator, otherwise an empty list. */
    citusWorkers: readonly string[];
    /** A database with the current schema, which tests copy. Undefined on Citus, which cannot copy databases. */
    migratedDatabase: string | undefined;
    /** A folder that the test files of this run share. */
    runFolder: string;
  }
}

const SCHEMA = join(import.meta.dirname, '../../migrations');

/**
 * Provides one PostgreSQL server for the whole run: the one at DATABASE_URL, or else an embedded one. With
 * CITUS_WORKERS (`host:port,host:port`), the server is a Citus coordinator, and each database is also created on the
 * workers.
 */
export default async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  const { DATABASE_URL, CITUS_WORKERS = '' } = process.env;
  const citusWorkers = CITUS_WORKERS.split(',').filter((address) => address !== '');
  const runFolder = await mkdtemp(join(tmpdir(), 'groundswell-tests-'));
  await chmod(runFolder, 0o755);
  const cluster = DATABASE_URL ? undefined : await startThrowawayCluster({ durability: 'none' });
  const serverUrl = cluster?.url ?? DATABASE_URL ?? '';
  const template = citusWorkers.length === 0 ? await createMigrated(serverUrl) : undefined;
  provide('runFolder', runFolder);
  provide('databaseServerUrl', serverUrl);
  provide('databaseServerVersion', await readVersion(serverUrl));
  provide('citusWorkers', citusWorkers);
  provide('migratedDatabase', template);
  return async () => {
    if (cluster) await cluster.stop();
    else if (template !== undefined) await withServer(serverUrl, (sql) => sql.query(`DROP DATABASE ${template}`));
    await rm(runFolder, { recursive: true, force: true });
  };
}

async function createMigrated(serverUrl: string): Promise<string> {
  const name = `test_template_${randomUUID().replaceAll('-', '')}`;
  await withServer(serverUrl, (sql) => sql.query(`CREATE DATABASE ${name}`));
  await withServer(withDatabase(serverUrl, name), (sql) => migrate(sql, SCHEMA, silentLog));
  return name;
}

async function readVersion(serverUrl: string): Promise<number> {
  const [row] = await withServer(serverUrl, (sql) =>
    sql.query<{ server_version_num: string }>('SHOW server_version_num'),
  );
  return Number(row?.server_version_num);
}
