import { expect, test } from 'vitest';
import { createTestDatabase } from '../../../tests/support/test-database.ts';
import { checkSearch, checkServer } from './check-database.ts';

test('doctor reports a database that accepts no writes as a failure', async () => {
  const database = await createTestDatabase({ migrated: false });
  const checked = await database.transaction(async (sql) => {
    // A standby is read-only as well, and so are databases that a host has locked.
    await sql.query('SET TRANSACTION READ ONLY');
    return checkServer(sql, 'here');
  });
  await database.drop();
  expect(checked).toMatchObject({ status: 'failed', message: expect.stringMatching(/ ms, but it is read-only$/) });
});

test('doctor warns if the extension for searches is in a schema that the search path lacks', async () => {
  const database = await createTestDatabase({ migrated: false });
  await database.query('CREATE SCHEMA extensions');
  await database.query('CREATE EXTENSION pg_trgm SCHEMA extensions');
  const checked = await checkSearch(database);
  await database.drop();
  expect(checked).toMatchObject({
    status: 'warning',
    message: 'the extension pg_trgm is in the schema extensions, which is not in the search path',
  });
});
