import { afterAll, beforeAll, expect, test } from 'vitest';
import { isCitus } from '../../../tests/support/is-citus.ts';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts';
import type { Sql } from '../database/database.ts';
import { checkConnections } from './check-database.ts';

/** A role without sessions, which may see all columns of every session. */
const MONITOR = 'pg_monitor';
/** A role without sessions, which may see few columns of sessions. */
const UNPRIVILEGED = 'pg_stat_scan_tables';

let database: TestDatabase;
let other: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase({ migrated: false });
  other = await createTestDatabase({ migrated: false });
});
afterAll(async () => {
  await database.drop();
  await other.drop();
});

/** Checks the connections as a role, while there are connections to two databases. @returns the message. */
function messageFor(role: string, limits: { role: number; database: number }): Promise<string> {
  return other.transaction(() =>
    database.transaction(async (sql) => {
      await sql.query(`SET LOCAL ROLE ${role}`);
      const limited: Sql = {
        query: async <Row extends object>(text: string, values?: readonly unknown[]) =>
          text.includes('rolconnlimit')
            ? ([{ server: 97, ...limits }] as object[] as Row[])
            : sql.query<Row>(text, values),
      };
      return (await checkConnections(limited, () => 12)).message;
    }),
  );
}

test('a limit of the role is compared with the connections of the role', async () => {
  expect(await messageFor(MONITOR, { role: 40, database: -1 })).toMatch(/^0 of 40 open \(limited by the role\)/);
});

test('a limit of the database is compared with the connections to the database', async () => {
  // On Citus, other nodes may be connected, too.
  const open = isCitus ? '\\d+' : '1';
  const message = await messageFor(MONITOR, { role: -1, database: 40 });
  expect(message).toMatch(new RegExp(`^${open} of 40 open \\(limited by the database\\)`));
});

test('the limit of the server is compared with the connections of all roles, even without the role pg_monitor', async () => {
  const [, open] = /^(\d+) of 97 open/.exec(await messageFor(UNPRIVILEGED, { role: -1, database: -1 })) ?? [];
  expect(Number(open)).toBeGreaterThanOrEqual(2);
});
