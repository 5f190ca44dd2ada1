import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { blockedStatements } from '../../../tests/support/blocked-statements.ts';
import { interruptTransactions } from '../../../tests/support/interrupted-transactions.ts';
import { addPassphrase, PASSPHRASE } from '../../../tests/support/operator.ts';
import { createTestClock } from '../../../tests/support/test-clock.ts';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts';
import { listAudit } from '../audit/audit-log.ts';
import { CoreError } from '../core-error.ts';
import type { Database, Sql } from '../database/database.ts';
import { hasOperators, inviteOperator, listOperators, revokeOperator } from './operators.ts';
import { deleteOldSessions, findOpenSessions, touchSession } from './sessions.ts';
import { acceptInvitation, isKnownDevice, readInvitation, signIn } from './sign-in.ts';

let database: TestDatabase;
let clock: ReturnType<typeof createTestClock>;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

beforeEach(async () => {
  clock = createTestClock();
  await database.query('DELETE FROM operators');
});

const invite = (name = 'ada') => inviteOperator(database, name, clock.now());
const accept = (token: string, passphrase = PASSPHRASE) =>
  acceptInvitation(database, { token, passphrase, now: clock.now() });
const attempt = (given: Partial<Parameters<typeof signIn>[1]> = {}, on: Database = database) =>
  signIn(on, {
    ...{ name: 'ada', passphrase: PASSPHRASE, knownDevice: undefined, before: undefined, now: clock.now() },
    ...given,
  });
/** Signs in a new operator whose passphrase is quick to check, for tests that are not about invitations. */
async function signInNew() {
  await addPassphrase(database, 'ada', clock.now());
  return attempt();
}
const operators = () => listOperators(database, clock.now());

describe('invitations', () => {
  test('an invitation works once, within 24 hours, and is stored as a hash', async () => {
    expect(await hasOperators(database)).toBe(false);
    const { token, expiresAt } = await invite();
    expect(await hasOperators(database)).toBe(true);
    expect(Date.parse(expiresAt) - clock.now().getTime()).toBe(24 * 3_600_000);
    expect(Buffer.from(token, 'base64url').length * 8).toBeGreaterThanOrEqual(128);
    expect(JSON.stringify(await database.query('SELECT * FROM operator_invitations'))).not.toContain(token);
    expect(await readInvitation(database, token, clock.now())).toBe('ada');
    await accept(token);
    await expect(accept(token)).rejects.toMatchObject({ code: 'invitation_invalid' });
    const late = await invite('grace');
    clock.advance({ hours: 24 });
    await expect(readInvitation(database, late.token, clock.now())).rejects.toMatchObject({
      code: 'invitation_invalid',
    });
  });

  test('an invitation is accepted only once if two requests accept it at the same time', async () => {
    const { token } = await invite();
    const results = await Promise.allSettled([accept(token), accept(token, 'another long passphrase')]);
    expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(await operators()).toMatchObject([{ name: 'ada', active: true, sessions: 1 }]);
  });

  test('an operator is revoked even while an invitation is being accepted, and neither change fails', async () => {
    const { token } = await invite();
    let revoking: Promise<boolean> | undefined;
    let statements = 0;
    const interrupted = interruptTransactions(database, '', async () => {
      statements += 1;
      if (statements !== 2) return;
      revoking = revokeOperator(database, 'ada');
      await expect.poll(() => blockedStatements(database)).toHaveLength(1);
    });
    const { sessionToken } = await acceptInvitation(interrupted, { token, passphrase: PASSPHRASE, now: clock.now() });
    expect(await revoking).toBe(true);
    expect(await touchSession(database, sessionToken, clock.now())).toBeUndefined();
  });

  test('of two invitations that are created at the same time, only one remains valid', async () => {
    await invite();
    let second: ReturnType<typeof invite> | undefined;
    const interrupted = interruptTransactions(database, 'INSERT INTO operator_invitations', async () => {
      let isDone = false;
      second = invite().finally(() => {
        isDone = true;
      });
      await expect.poll(async () => isDone || (await blockedStatements(database)).length > 0).toBe(true);
    });
    await inviteOperator(interrupted, 'ada', clock.now());
    await second;
    expect(await database.query('SELECT FROM operator_invitations')).toHaveLength(1);
  });

  test('a new invitation replaces the previous one, and a passphrase of fewer than 12 characters is refused', async () => {
    const first = await invite();
    const second = await invite();
    await expect(readInvitation(database, first.token, clock.now())).rejects.toMatchObject({
      code: 'invitation_invalid',
    });
    await expect(accept(second.token, 'elf symbols')).rejects.toMatchObject({ code: 'passphrase_too_short' });
    // These eleven characters have 22 UTF-16 code units.
    await expect(accept(second.token, '🌊'.repeat(11))).rejects.toMatchObject({ code: 'passphrase_too_short' });
    await accept(second.token, '🌊'.repeat(12));
  });

  test('an invitation for an existing operator sets another passphrase, ends all sessions and forgets known devices', async () => {
    const before = await accept((await invite()).token);
    const after = await accept((await invite()).token, 'a wholly new passphrase');
    expect(await touchSession(database, before.sessionToken, clock.now())).toBeUndefined();
    expect(await touchSession(database, after.sessionToken, clock.now())).toBe('ada');
    expect(await isKnownDevice(database, 'ada', before.deviceToken)).toBe(false);
    await expect(attempt()).rejects.toMatchObject({ code: 'sign_in_failed' });
    await attempt({ passphrase: 'a wholly new passphrase' });
  });
});

describe('signing in', () => {
  test('signing in creates a new session each time, ends the previous one, and replaces the token of the known device', async () => {
    const { sessionToken, deviceToken } = await signInNew();
    const next = await attempt({ before: sessionToken, knownDevice: deviceToken });
    expect(next.sessionToken).not.toBe(sessionToken);
    expect(await touchSession(database, sessionToken, clock.now())).toBeUndefined();
    expect(await touchSession(database, next.sessionToken, clock.now())).toBe('ada');
    expect(await isKnownDevice(database, 'ada', deviceToken)).toBe(false);
    expect(await isKnownDevice(database, 'ada', next.deviceToken)).toBe(true);
    expect(await isKnownDevice(database, 'grace', next.deviceToken)).toBe(false);
    expect(JSON.stringify(await database.query('SELECT * FROM operator_sessions'))).not.toContain(next.sessionToken);
  });

  test('signing in fails in the same way for a wrong passphrase and for a name that is unknown, invalid or without a passphrase', async () => {
    await addPassphrase(database, 'ada', clock.now());
    await invite('grace');
    const attempts = [
      { passphrase: 'wrong passphrase' },
      { name: 'nobody' },
      { name: 'grace' },
      { name: "' OR true --" },
    ];
    const reasons: string[] = [];
    for (const given of attempts)
      await attempt(given).catch(({ code, message }) => reasons.push(`${code}: ${message}`));
    expect(reasons).toHaveLength(attempts.length);
    expect(new Set(reasons)).toEqual(new Set(['sign_in_failed: The name or passphrase is wrong.']));
  });

  test('an attempt from a known device is checked before attempts that have waited longer', async () => {
    await addPassphrase(database, 'ada', clock.now());
    const rows = await database.query<never>('SELECT passphrase FROM operators');
    // Without a connection to wait for, the attempts arrive in the order in which they start.
    const reading = { ...database, query: async () => rows };
    const failed: string[] = [];
    const guess = (name: string, knownDevice?: string) =>
      attempt({ name, passphrase: 'wrong passphrase', knownDevice }, reading).catch(() => failed.push(name));
    await Promise.all([guess('first'), guess('second'), guess('known', 'device')]);
    expect(failed).toEqual(['first', 'known', 'second']);
  });

  test('signing in accepts the passphrase in composed and in decomposed Unicode characters', async () => {
    await accept((await invite()).token, 'größere Wellen');
    await attempt({ passphrase: 'gro\u0308ßere Wellen' });
  });
});

test('a session whose sign-in checked the old passphrase ends when a new passphrase is set', async () => {
  await addPassphrase(database, 'ada', clock.now());
  const { token } = await invite();
  let accepting: Promise<unknown> = Promise.resolve();
  /** Accepts the invitation between the check of the passphrase and the creation of the session. */
  const interrupted: Database = {
    ...database,
    transaction: (work) =>
      database.transaction((sql) =>
        work({
          async query(text, values) {
            const rows = await sql.query<never>(text, values);
            if (text.includes('SELECT passphrase')) {
              let isAccepted = false;
              accepting = accept(token, 'another long passphrase').then(() => {
                isAccepted = true;
              });
              await expect
                .poll(async () => isAccepted || (await blockedStatements(database)).length > 0, { timeout: 60_000 })
                .toBe(true);
            }
            return rows;
          },
        }),
      ),
  };
  const { sessionToken } = await signIn(interrupted, {
    ...{ name: 'ada', passphrase: PASSPHRASE, knownDevice: undefined, before: undefined, now: clock.now() },
  });
  await accepting;
  expect(await touchSession(database, sessionToken, clock.now())).toBeUndefined();
  expect(await operators()).toMatchObject([{ name: 'ada', sessions: 1 }]);
});

describe('sessions', () => {
  test('a session ends after 12 hours without use, and after 30 days in any case', async () => {
    const { sessionToken } = await signInNew();
    clock.advance({ hours: 11 });
    expect(await touchSession(database, sessionToken, clock.now())).toBe('ada');
    clock.advance({ hours: 11 });
    expect(await touchSession(database, sessionToken, clock.now())).toBe('ada');
    clock.advance({ hours: 12 });
    expect(await touchSession(database, sessionToken, clock.now())).toBeUndefined();
    const { sessionToken: busy } = await attempt();
    for (let hours = 0; hours < 30 * 24; hours += 10) {
      expect(await touchSession(database, busy, clock.now())).toBe('ada');
      clock.advance({ hours: 10 });
    }
    expect(await touchSession(database, busy, clock.now())).toBeUndefined();
    expect(await operators()).toMatchObject([{ name: 'ada', sessions: 0, lastUsedAt: null }]);
    await deleteOldSessions(database, clock.now());
    expect(await database.query('SELECT FROM operator_sessions')).toEqual([]);
  });

  test('a session stays open while the database accepts no changes', async () => {
    const { sessionToken } = await signInNew();
    clock.advance({ hours: 1 });
    const readOnly: Sql = {
      query: (text, values) =>
        text.startsWith('UPDATE')
          ? Promise.reject(new CoreError('unavailable', 'Read-only'))
          : database.query(text, values),
    };
    expect(await touchSession(readOnly, sessionToken, clock.now())).toBe('ada');
  });

  test('a session ends when a clock that was a year ahead is corrected, but survives a correction of 11 hours', async () => {
    const { sessionToken } = await signInNew();
    clock.shiftWallClock({ hours: -11 });
    expect(await touchSession(database, sessionToken, clock.now())).toBe('ada');
    clock.shiftWallClock({ hours: -11 });
    expect(await touchSession(database, sessionToken, clock.now())).toBeUndefined();
    clock.shiftWallClock({ hours: 365 * 24 });
    const { sessionToken: ahead } = await attempt();
    clock.shiftWallClock({ hours: -365 * 24 });
    expect(await touchSession(database, ahead, clock.now())).toBeUndefined();
    expect(await findOpenSessions(database, [ahead], clock.now())).toEqual(new Set());
  });

  test("revoking an operator's access deletes the operator with all sessions, invitations and known devices", async () => {
    const { sessionToken } = await signInNew();
    await invite();
    expect(await revokeOperator(database, 'ada')).toBe(true);
    expect(await touchSession(database, sessionToken, clock.now())).toBeUndefined();
    await expect(attempt()).rejects.toMatchObject({ code: 'sign_in_failed' });
    for (const table of ['operators', 'operator_invitations', 'operator_sessions', 'operator_devices'])
      expect(await database.query(`SELECT FROM ${table}`), table).toEqual([]);
    expect(await revokeOperator(database, 'ada')).toBe(false);
  });
});

test('the audit log records invitations, acceptances and revocations, and who made them', async () => {
  await accept((await invite()).token);
  await revokeOperator(database, 'ada');
  const [revoked, accepted, invited] = await listAudit(database, { limit: 3 });
  expect([invited?.action, accepted?.action, revoked?.action]).toEqual([
    'console invite',
    'console accept',
    'console revoke',
  ]);
  expect(accepted).toMatchObject({ operator: 'ada', target: 'ada' });
  expect(revoked?.operator).not.toBe('ada');
});
