import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, inject, test } from 'vitest';
import { buildProduct } from '../../tests/support/build-product.ts';
import { createLogLines } from '../../tests/support/log-lines.ts';
import { buildPng } from '../../tests/support/picture-bytes.ts';
import { stablePort } from '../../tests/support/stable-port.ts';
import { createRenderer } from '../../tests/support/stub-renderer.ts';
import { createTestDatabase, type TestDatabase } from '../../tests/support/test-database.ts';
import { withServer } from '../../tests/support/with-server.ts';
import { CONSOLE_API } from '../contract/console/paths.ts';
import type { Finding } from '../contract/console/records.ts';
import * as paths from '../contract/paths.ts';
import { submissionPaths } from '../contract/submissions/paths.ts';
import type { CreatedSubmission } from '../contract/submissions/schema.ts';
import { inviteOperator } from '../core/console/operators.ts';
import { beginSession } from '../core/console/sessions.ts';
import { saveProducts } from '../core/products/save-products.ts';
import { readSettings } from '../settings/settings.ts';
import { closeInOrder, serve } from './serve.ts';
import { shareConnections } from './share-connections.ts';
import { closeAll } from './site.ts';

let database: TestDatabase;
let dataDir: string;
beforeEach(async () => {
  database = await createTestDatabase();
  dataDir = await mkdtemp(join(tmpdir(), 'groundswell-serve-'));
});
afterEach(async () => {
  await database.drop();
  await rm(dataDir, { recursive: true, force: true });
});

const SELECT_OTHERS = `SELECT pid FROM pg_stat_activity
  WHERE datname = current_database() AND backend_type = 'client backend' AND application_name = $1`;

test('if another program takes the port during startup, the error says so, and no connection stays open', async () => {
  const other = createServer();
  const port = await stablePort();
  const named = new URL(database.url);
  named.searchParams.set('application_name', 'starting');
  const connected = () => database.query(SELECT_OTHERS, ['starting']);
  let whileStarting: unknown[] = [];
  const starting = serve(
    readSettings({ DATABASE_URL: named.href, DATA_DIR: dataDir, PORT: String(port) }),
    createLogLines().log,
    {
      createRenderer,
      // Another server takes the port after the site has checked it and before the site listens on it.
      async prepare() {
        whileStarting = await connected();
        other.listen(port, '127.0.0.1');
        await once(other, 'listening');
      },
    },
  );
  await expect(starting).rejects.toThrow(`PORT: another program already listens on 127.0.0.1:${port}`);
  expect(whileStarting.length).toBeGreaterThan(0);
  await expect.poll(connected).toEqual([]);
  other.close();
});

test('a running site applies VOTES_PER_NETWORK and LEADERBOARD_REVIEW_HOURS', async () => {
  const settings = { DATABASE_URL: database.url, DATA_DIR: dataDir, PORT: '0' };
  const site = await serve(
    readSettings({ ...settings, VOTES_PER_NETWORK: '1', LEADERBOARD_REVIEW_HOURS: '3' }),
    createLogLines().log,
    { createRenderer },
  );
  try {
    // The site's clock may be behind this machine's by the latency of its last query.
    const createdAt = new Date(Date.now() - 60_000).toISOString();
    await saveProducts(database, [buildProduct({ id: 'tide', createdAt })]);
    for (const session of ['session-first', 'session-second']) {
      const request = { method: 'PUT', headers: { 'x-user-session': session } };
      await fetch(`${site.address}${paths.api.upvote('tide')}`, request);
    }
    const read = async (path: string) => (await fetch(`${site.address}${path}`)).json();
    await expect
      .poll(async () => (await read(paths.api.standings('tide'))).day)
      .toMatchObject({ votes: 1, excluded: [{ reason: 'network', votes: 1 }] });
    const { to, finalAt } = await read(paths.api.leaderboard(createdAt.slice(0, 10)));
    expect(Date.parse(finalAt) - Date.parse(to)).toBe((24 + 3) * 3_600_000);
  } finally {
    await site.close();
  }
});

test('with RATE_LIMITS=off, one network may upload as many pictures at once as a process accepts', async () => {
  const settings = { DATABASE_URL: database.url, DATA_DIR: dataDir, PORT: '0', SUBMISSIONS: 'moderated' };
  const site = await serve(readSettings({ ...settings, RATE_LIMITS: 'off' }), createLogLines().log, { createRenderer });
  try {
    const submitted = await fetch(`${site.address}${submissionPaths.submissions}`, {
      method: 'POST',
      headers: { 'x-user-session': 'session-maker', 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'Tide' }),
    });
    const { submission, makerKey } = (await submitted.json()) as CreatedSubmission;
    const upload = async () => {
      const response = await fetch(`${site.address}${submissionPaths.image(submission.id)}`, {
        method: 'PUT',
        headers: { authorization: `Bearer ${makerKey}`, 'content-type': 'image/png' },
        body: new Uint8Array(buildPng({ width: 9, height: 9 })),
      });
      return response.status;
    };
    // The worker process starts with the first picture, so the other pictures wait.
    expect(await Promise.all(Array.from({ length: 12 }, upload))).toEqual(Array(12).fill(200));
  } finally {
    await site.close();
  }
});

test('with DATABASE_URL, the console reports that no backups are scheduled, but not that the data folder is missing', async () => {
  const settings = readSettings({ DATABASE_URL: database.url, DATA_DIR: join(dataDir, 'none'), PORT: '0' });
  const readConsole = async () => ({ document: async () => '', consoleDir: undefined });
  const site = await serve(settings, createLogLines().log, { createRenderer, readConsole });
  try {
    await inviteOperator(database, 'ada', new Date());
    const cookie = `console_session=${await beginSession(database, 'ada', new Date())}`;
    const read = async () => {
      const response = await fetch(`${site.address}${CONSOLE_API.doctor}`, { headers: { cookie } });
      return (await response.json()) as { findings?: Finding[] };
    };
    // The site checks only once a second whether its console is enabled.
    await expect
      .poll(async () => (await read()).findings?.filter(({ check }) => /^disk|^backups/.test(check)))
      .toEqual([expect.objectContaining({ check: 'backups', message: 'none are scheduled' })]);
  } finally {
    await site.close();
  }
});

/** Limits the connections to the test's database, to which nothing is connected yet. */
async function limitConnections(limit: number): Promise<void> {
  const name = new URL(database.url).pathname.slice(1);
  await withServer(inject('databaseServerUrl'), (sql) => sql.query(`ALTER DATABASE ${name} CONNECTION LIMIT ${limit}`));
}

test('one process opens no more connections than a database at DATABASE_URL allows, so parallel requests wait', async () => {
  await limitConnections(6);
  const settings = readSettings({ DATABASE_URL: database.url, DATA_DIR: dataDir, PORT: '0', RATE_LIMITS: 'off' });
  const site = await serve(settings, createLogLines().log, { createRenderer });
  try {
    // Each request has a different limit, so no response comes from the cache.
    const ask = async (limit: number) => (await fetch(`${site.address}${paths.api.products}?limit=${limit}`)).status;
    const statuses = await Promise.all(Array.from({ length: 20 }, (_, index) => ask(index + 1)));
    expect(statuses).toEqual(Array(20).fill(200));
  } finally {
    await site.close();
  }
});

test('one process that needs more connections than a database at DATABASE_URL allows logs a warning', async () => {
  await limitConnections(3);
  const { log, text } = createLogLines();
  const settings = readSettings({ DATABASE_URL: database.url });
  const connections = await withServer(database.url, (sql) => shareConnections(sql, settings, log));
  expect(connections).toBe(2);
  expect(text()).toContain(
    'DATABASE_URL: 1 process opens up to 4 connections, but only 3 are allowed (limited by the database). Raise the limit',
  );
});

test('if a resource cannot be closed, the others are still closed, and the error is thrown', async () => {
  const closed: string[] = [];
  const database = { close: () => closed.push('database') };
  const workers = { close: () => Promise.reject(new Error('A worker does not end')) };
  const metrics = { close: () => closed.push('metrics') };
  await expect(closeAll([database, workers, metrics])).rejects.toThrow('A worker does not end');
  expect(closed).toEqual(['metrics', 'database']);
});

test('jobs and the database are closed even if the site cannot stop serving, and the error is thrown', async () => {
  const closed: string[] = [];
  const site = closeInOrder({
    jobs: { close: () => closed.push('jobs') },
    stopServing: () => Promise.reject(new Error('The server does not close')),
    closeables: [{ close: () => closed.push('database') }],
  });
  await expect(site.stopServing()).rejects.toThrow('The server does not close');
  await expect(site.close()).rejects.toThrow('The server does not close');
  expect(closed).toEqual(['jobs', 'database']);
});
