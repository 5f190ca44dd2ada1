import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, inject, test, vi } from 'vitest';
import { blockedStatements } from '../../../tests/support/blocked-statements.ts';
import { silentLog } from '../../../tests/support/silent-log.ts';
import { createTestDatabase, MIGRATIONS, type TestDatabase } from '../../../tests/support/test-database.ts';
import { ConnectError, connect, describeUrl } from './connect.ts';
import { waitForLock } from './transactions.ts';

const open = (databaseUrl: string, signal?: AbortSignal) =>
  connect({ databaseUrl, dataDir: '/unused', mode: 'own', log: silentLog, signal });

async function errorOf(databaseUrl: string): Promise<string> {
  const error: unknown = await open(databaseUrl).then(
    (connection) => connection.close().then(() => 'it connected'),
    (error: unknown) => error,
  );
  expect(error).toBeInstanceOf(ConnectError);
  const { message } = error as ConnectError;
  expect(message, 'one line').toMatch(/^DATABASE_URL: [^\n]+$/);
  return message;
}

function serverUrlWith(change: (url: URL) => void): string {
  const url = new URL(inject('databaseServerUrl'));
  change(url);
  return url.href;
}

describe('usable servers', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createTestDatabase({ migrated: false });
  });
  afterAll(() => database.drop());

  test('a usable server is described without secrets, and the connection can migrate and query it', async () => {
    const connection = await open(database.url);
    expect(connection.embedded).toBe(false);
    expect(connection.location).toBe(describeUrl(database.url));
    expect(connection.location).not.toContain(new URL(database.url).password || 'no password');
    expect(await connection.migrate(MIGRATIONS)).not.toEqual([]);
    expect(await connection.database.query('SELECT id FROM products')).toEqual([]);
    connection.setOwnerNote('a server has no owner');
    await connection.close();
  });

  test('the settings of a database do not affect date formats, string escapes, isolation or lock timeouts', async () => {
    for (const setting of [
      'datestyle = German',
      'standard_conforming_strings = off',
      'default_transaction_isolation = serializable',
      'lock_timeout = 1000',
    ])
      await database.query(
        `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET ${setting}', current_database()); END $$`,
      );
    const connection = await open(database.url);
    const read = await connection.database.query("SELECT timestamptz '2026-02-03T04:05:06Z' AS at, 'a\\b' AS text");
    const settings = await connection.database.query(
      "SELECT current_setting('transaction_isolation') AS isolation, current_setting('lock_timeout') AS timeout",
    );
    const afterLock = await connection.database.transaction(async (sql) => {
      await sql.query('CREATE TEMPORARY TABLE locked ()');
      await waitForLock(sql, 'LOCK TABLE locked', () => {});
      return sql.query('SHOW lock_timeout');
    });
    await connection.close();
    expect(read).toEqual([{ at: new Date('2026-02-03T04:05:06Z'), text: 'a\\b' }]);
    expect(settings).toEqual([{ isolation: 'read committed', timeout: '0' }]);
    expect(afterLock).toEqual([{ lock_timeout: '0' }]);
  });

  test('long work that is aborted while it waits for a lock fails and is rolled back', async () => {
    await database.query('CREATE TABLE held (); CREATE TABLE written (n integer)');
    const abort = new AbortController();
    const connection = await open(database.url, abort.signal);
    await database.transaction(async (sql) => {
      await sql.query('LOCK TABLE held');
      const work = connection.withoutStatementTimeout((own) =>
        own.transaction(async (waiting) => {
          await waiting.query('INSERT INTO written VALUES (1)');
          await waiting.query('LOCK TABLE held');
        }),
      );
      await expect.poll(() => blockedStatements(database)).toHaveLength(1);
      abort.abort();
      await expect(work).rejects.toMatchObject({ code: 'unavailable' });
    });
    const late = connection.withoutStatementTimeout((own) => own.transaction(() => expect.unreachable()));
    await expect(late, 'work that begins after the abort').rejects.toBe(abort.signal.reason);
    expect(await database.query('SELECT n FROM written')).toEqual([]);
    await connection.close();
  });
});

describe('an unusable server is reported in one line with the reason and without the password', () => {
  test('a port on which no server listens is reported', async () => {
    const message = await errorOf('postgres://site:hunter2@127.0.0.1:1/launches');
    expect(message).toContain('127.0.0.1:1/launches cannot be used: connect ECONNREFUSED');
    expect(message).not.toContain('hunter2');
  });

  test('a host that does not exist is reported', async () => {
    // RFC 2606 guarantees that no host has the top-level domain .invalid.
    const message = await errorOf('postgres://site:hunter2@no-such-host.invalid/launches');
    expect(message).toMatch(
      /no-such-host\.invalid\/launches cannot be used: (?:getaddrinfo (?:ENOTFOUND|EAI_AGAIN)|.* connection timeout)/,
    );
    expect(message).not.toContain('hunter2');
  });

  test('a database that does not exist is reported', async () => {
    const name = `absent_${randomUUID().replaceAll('-', '')}`;
    expect(await errorOf(serverUrlWith((url) => (url.pathname = `/${name}`)))).toContain(
      `database "${name}" does not exist`,
    );
  });

  test('a wrong role or password is reported', async () => {
    const message = await errorOf(
      serverUrlWith((url) => Object.assign(url, { username: 'stranger', password: 'hunter2' })),
    );
    // The message depends on the authentication methods of the server.
    expect(message).toMatch(
      /cannot be used: (?:(?:password|Peer) authentication failed|role "stranger" does not exist|no pg_hba\.conf entry)/,
    );
    expect(message).not.toContain('hunter2');
  });

  test('a server that does not respond is reported', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const server = await listen(() => vi.advanceTimersByTime(5_000));
    try {
      expect(await errorOf(`postgres://127.0.0.1:${portOf(server)}/launches`)).toContain(
        'cannot be used: Connection terminated due to connection timeout',
      );
    } finally {
      server.close();
      vi.useRealTimers();
    }
  });

  test('a server that is not PostgreSQL is reported', async () => {
    const server = await listen((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
    try {
      expect(await errorOf(`postgres://127.0.0.1:${portOf(server)}/launches`)).toContain('cannot be used: ');
    } finally {
      server.close();
    }
  });

  test.each([
    ['57P03', 'Not now', 'Try again in a moment.'],
    ['53300', 'Not now', 'Try again in a moment.'],
    ['28000', 'no pg_hba.conf entry for host "::1", user "site", no encryption', 'Add sslmode=verify-full to the URL'],
  ])('a server that refuses a connection (%s, %s) is reported with the advice: %s', async (code, reason, advice) => {
    const refusal = message('E', Buffer.from(`SFATAL\0C${code}\0M${reason}\0\0`));
    const server = await listen((socket) => socket.once('data', () => socket.end(refusal)));
    expect(await errorOf(`postgres://127.0.0.1:${portOf(server)}/launches`)).toContain(`: ${reason}. ${advice}`);
    server.close();
  });

  test('a server older than PostgreSQL 14 is reported', async () => {
    const server = await listen((socket) => respondAsPostgres(socket, '130014'));
    try {
      expect(await errorOf(`postgres://site@127.0.0.1:${portOf(server)}/launches`)).toBe(
        `DATABASE_URL: 127.0.0.1:${portOf(server)}/launches is PostgreSQL 13. Groundswell needs 14 or newer: upgrade that server, or use another one.`,
      );
    } finally {
      server.close();
    }
  });

  test('a server with the certificate of a private CA is reported, and accepted with `sslrootcert`', async () => {
    const file = fileURLToPath(import.meta.resolve('../../../tests/support/self-signed.pem'));
    const pem = readFileSync(file);
    const server = await listen((socket) =>
      socket.once('data', () => {
        socket.write('S');
        const secure = new TLSSocket(socket, { isServer: true, key: pem, cert: pem });
        respondAsPostgres(
          secure.on('error', () => undefined),
          '140000',
        );
      }),
    );
    try {
      const url = `postgres://site@127.0.0.1:${portOf(server)}/launches?sslmode=verify-full`;
      expect(await errorOf(url)).toMatch(
        /: self-signed certificate.*\. Check sslmode, and for a private CA, set sslrootcert/,
      );
      const connection = await open(`${url}&sslrootcert=${encodeURIComponent(file)}`);
      await connection.close();
    } finally {
      server.close();
    }
  });

  test('a certificate file that does not exist is reported', async () => {
    expect(await errorOf('postgres://127.0.0.1:1/launches?sslmode=verify-full&sslrootcert=/none.pem')).toContain(
      "open '/none.pem'. Check sslmode",
    );
  });

  test('a server without TLS is reported if the URL requires TLS', async () => {
    const server = await listen((socket) => socket.once('data', () => socket.write('N')));
    try {
      expect(await errorOf(`postgres://127.0.0.1:${portOf(server)}/launches?sslmode=verify-full`)).toContain(
        'does not support SSL connections. Check sslmode',
      );
    } finally {
      server.close();
    }
  });

  test('PostgreSQL 14, the oldest supported version, is accepted', async () => {
    const server = await listen((socket) => respondAsPostgres(socket, '140000'));
    try {
      const connection = await open(`postgres://site@127.0.0.1:${portOf(server)}/launches`);
      await connection.close();
    } finally {
      server.close();
    }
  });
});

describe('the description of a server', () => {
  test.each([
    ['postgres://site:hunter2@db.example:5433/launches?sslmode=require', 'db.example:5433/launches'],
    ['postgresql://db.example/launches', 'db.example/launches'],
    ['postgres:///launches?host=/run/postgresql&user=site', '/run/postgresql/launches'],
    ['postgres:///launches', 'localhost/launches'],
  ])('the server of %s is described as %s', (url, name) => {
    expect(describeUrl(url)).toBe(name);
  });
});

function portOf(server: Server): number {
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

async function listen(onSocket: (socket: Socket) => void): Promise<Server> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    onSocket(socket);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

/** Implements just enough of PostgreSQL's protocol to accept a client and respond to queries with one text value. */
function respondAsPostgres(socket: Socket, version: string): void {
  const ready = message('Z', Buffer.from('I'));
  socket.once('data', () => {
    socket.write(Buffer.concat([message('R', int32(0)), ready]));
    socket.on('data', (data) => {
      if (data[0] !== 'Q'.charCodeAt(0)) return;
      const field = Buffer.concat([
        Buffer.from('version\0'),
        int32(0),
        int16(0),
        int32(25),
        int16(-1),
        int32(-1),
        int16(0),
      ]);
      const value = Buffer.concat([int32(version.length), Buffer.from(version)]);
      socket.write(
        Buffer.concat([
          message('T', Buffer.concat([int16(1), field])),
          message('D', Buffer.concat([int16(1), value])),
          message('C', Buffer.from('SELECT 1\0')),
          ready,
        ]),
      );
    });
  });
}

function message(type: string, body: Buffer): Buffer {
  return Buffer.concat([Buffer.from(type), int32(body.length + 4), body]);
}

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}

function int16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeInt16BE(value);
  return bytes;
}
