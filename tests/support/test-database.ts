import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { inject } from 'vitest';
import { type Database, openDatabase } from '../../src/core/database/database.ts';
import { migrate } from '../../src/core/database/migrate.ts';
import { silentLog } from './silent-log.ts';

export const MIGRATIONS = join(import.meta.dirname, '../../migrations');

export interface TestDatabase extends Database {
  url: string;
  /** Ends the connections and drops the database. */
  drop(): Promise<void>;
}

/** A new database on the run's server: with the current schema, or empty where a test is about the schema itself. */
export async function createTestDatabase({ migrated = true } = {}): Promise<TestDatabase> {
  const serverUrl = inject('databaseServerUrl');
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  await administer(serverUrl, `CREATE DATABASE ${name}`);
  const url = withDatabase(serverUrl, name);
  const database = openDatabase({ url, log: silentLog });
  if (migrated) await migrate(database, MIGRATIONS, silentLog);
  return {
    ...database,
    url,
    async drop() {
      await database.close();
      await administer(serverUrl, `DROP DATABASE ${name} WITH (FORCE)`);
    },
  };
}

/** Connections of one's own to another's database, which stays when they end. */
export function joinTestDatabase({ url }: TestDatabase): TestDatabase {
  const database = openDatabase({ url, log: silentLog });
  return { ...database, url, drop: () => database.close() };
}

async function administer(serverUrl: string, statement: string): Promise<void> {
  const server = openDatabase({ url: serverUrl, log: silentLog, maxConnections: 1 });
  try {
    await server.query(statement);
  } finally {
    await server.close();
  }
}

function withDatabase(serverUrl: string, name: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return url.href;
}
