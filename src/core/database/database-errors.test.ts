import pg from 'pg';
import { expect, test } from 'vitest';
import { createLogLines } from '../../../tests/support/log-lines.ts';
import { CoreError } from '../core-error.ts';
import { isConnectionFailure, watchOutages } from './database-errors.ts';

const away = (code: string) =>
  new CoreError('unavailable', 'away', { cause: Object.assign(new Error('connect'), { code }) });

test('an outage is logged once for any number of requests; another reason or a later outage is logged separately', async () => {
  const { log, lines } = createLogLines();
  let now = 0;
  const logged = watchOutages(log, { now: () => now });
  const fail = (error: Error) => logged(Promise.reject(error)).catch(() => undefined);
  for (let request = 0; request < 100; request += 1, now += 1_000) await fail(away('ECONNREFUSED'));
  expect(lines()).toHaveLength(1);
  expect(lines()).toMatchObject([{ msg: 'The database is unavailable', reason: 'ECONNREFUSED' }]);
  await fail(away('25006'));
  expect(lines()).toHaveLength(2);
  now += 61_000;
  await fail(away('25006'));
  expect(lines()).toHaveLength(3);
});

test.each([
  ['25006', 'The database accepts no changes'],
  ['53100', 'The database accepts no changes'],
  ['25P04', 'The database canceled a statement, usually because it took too long'],
  ['57014', 'The database canceled a statement, usually because it took too long'],
  ['57P03', 'The database is unavailable'],
])('the log says what a database that responds with %s does: %s', async (code, message) => {
  const { log, lines } = createLogLines();
  const cause = Object.assign(new pg.DatabaseError('refused', 0, 'error'), { code });
  await expect(watchOutages(log)(Promise.reject(new CoreError('unavailable', 'away', { cause })))).rejects.toThrow();
  expect(lines()).toMatchObject([{ msg: message, reason: code }]);
});

test('errors of a statement are not logged as outages, and results are returned unchanged', async () => {
  const { log, lines } = createLogLines();
  const logged = watchOutages(log);
  await expect(logged(Promise.reject(new Error('syntax')))).rejects.toThrow('syntax');
  expect(await logged(Promise.resolve(1))).toBe(1);
  expect(lines()).toEqual([]);
});

test('every error of a socket or of TLS counts as a lost connection, so writes are not repeated', () => {
  const isLost = (code: string) => isConnectionFailure(Object.assign(new Error('write'), { code }));
  const lost = ['ECONNRESET', 'EAI_AGAIN', 'ENETDOWN', 'ECONNABORTED', 'EHOSTDOWN', 'EPROTO'];
  const tls = [
    'ERR_SSL_DECRYPTION_FAILED_OR_BAD_RECORD_MAC',
    'ERR_TLS_CERT_ALTNAME_INVALID',
    'ERR_OSSL_PEM_NO_START_LINE',
  ];
  const certificate = ['CERT_HAS_EXPIRED', 'DEPTH_ZERO_SELF_SIGNED_CERT', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'];
  expect([...lost, ...tls, ...certificate].filter((code) => !isLost(code))).toEqual([]);
  const messages = ['The server does not support SSL connections', 'Client was closed and is not queryable'];
  expect(messages.filter((message) => !isConnectionFailure(new Error(message)))).toEqual([]);
  const values = ['ERR_INVALID_ARG_TYPE', 'ERR_OUT_OF_RANGE', 'ERR_STRING_TOO_LONG'];
  expect(values.filter(isLost)).toEqual([]);
});
