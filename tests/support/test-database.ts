import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { inject } from 'vitest';
import { SELECT_CHANGES } from '../../src/core/changes/change-feed.ts';
import { adaptToCitus } from '../../src/core/database/citus.ts';
import { type Database, openDatabase } from '../../src/core/database/database.ts';
import { migrate } from '../../src/core/database/migrate.ts';
import { silentLog } from './silent-log.ts';
import { createDatabase, type DatabaseLocale, dropDatabase, LONG_TIMEOUTS } from './test-server.ts';

export const MIGRATIONS = join(import.meta.dirname, '../../migrations');

export interface TestDatabase extends Database {
  url: string;
  /** Drops the database despite open connections, to simulate a server failure. */
  simulateOutage(): Promise<void>;
  /** Closes the connections and drops the database. */
  drop(): Promise<void>;
}

interface TestDatabaseOptions extends DatabaseLocale {
  migrated?: boolean;
}

/** Creates a database on the run's server, with the current schema, or empty for tests of the migrations. */
export async function createTestDatabase({
  migrated = true,
  ...localeOptions
}: TestDatabaseOptions = {}): Promise<TestDatabase> {
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  const template = migrated && localeOptions.locale === undefined ? inject('migratedDatabase') : undefined;
  const url = await createDatabase(name, { ...localeOptions, ...(template && { template }) });
  const database = openPatiently(url);
  const simulateOutage = () => dropDatabase(name);
  if (migrated && template === undefined) await migrate(database, MIGRATIONS, silentLog);
  return {
    ...database,
    url,
    simulateOutage,
    async drop() {
      await database.close();
      await simulateOutage();
    },
  };
}

/** Opens separate connections to a test database. Dropping the result closes them, but does not drop the database. */
export function joinTestDatabase({ url, simulateOutage }: TestDatabase): TestDatabase {
  const database = openPatiently(url);
  return { ...database, url, simulateOutage, drop: () => database.close() };
}

/** Opens a database with long timeouts and without the watchdog, which ends connections if the machine stalls. */
function openPatiently(url: string): Database {
  const database = adaptToCitus(openDatabase({ url, log: silentLog, ...LONG_TIMEOUTS }));
  return { ...database, query: readChangesPatiently(database), startWatchdog: () => () => {} };
}

/** Half the time after which a site regards the database as unreachable. */
const SLOW_READ_MS = 1_000;

/**
 * Returns no rows for a slow read of changes, so the site reads again. Otherwise, a busy machine would look like an
 * outage, after which clients refetch. The first read, which has no cursor, is not cut short.
 */
function readChangesPatiently({ query }: Database): Database['query'] {
  return (text, values, options) => {
    const rows = query<never>(text, values, options);
    if (text !== SELECT_CHANGES || values?.[0] === null) return rows;
    return Promise.race([rows, delay(SLOW_READ_MS, [], { ref: false })]);
  };
}
