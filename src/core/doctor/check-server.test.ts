import { expect, test } from 'vitest';
import { createTestDatabase } from '../../../tests/support/test-database.ts';
import { checkServer } from './check-database.ts';

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
