import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { pollChanges } from '../../src/core/changes/change-poller.ts';
import { CHANNEL } from '../../src/core/changes/change-publisher.ts';
import { NotificationListener } from '../../src/core/database/listen.ts';
import { CommandHarness, expectFailure, expectRefusal } from '../support/command.ts';
import { installCommand } from '../support/installed-command.ts';
import { runProgram } from '../support/program.ts';
import { silentLog } from '../support/silent-log.ts';
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts';

const harness = new CommandHarness();
let target: TestDatabase;
let other: TestDatabase;

beforeAll(installCommand);
beforeEach(async () => {
  [target, other] = await Promise.all([
    createTestDatabase({ migrated: false }),
    createTestDatabase({ migrated: false }),
  ]);
});
afterEach(async () => {
  await harness.clear();
  await Promise.all([target.drop(), other.drop()]);
});

const LOG_LEVEL = 'warn';

test('move copies the embedded site to a server, leaves the site in the old database, and refuses a target that is not empty', async () => {
  const DATA_DIR = await harness.sampleDataDir();
  const site = await harness.serve({ DATA_DIR, LOG_LEVEL });
  const list = async (address: string) => (await fetch(`${address}/api/products?limit=100`)).json();
  const before = await list(site.address);
  const settings = { DATA_DIR, TARGET_DATABASE_URL: target.url };
  const refused = await runProgram(['move'], settings);
  expectRefusal(refused, new RegExp(`in use by process ${site.process.pid} .*stop that process first`));
  site.process.kill('SIGTERM');
  await site.exited;
  // An earlier move that was killed left its copy of the site.
  await mkdir(join(DATA_DIR, 'move-a1B2c3'));
  await writeFile(join(DATA_DIR, 'move-a1B2c3/site.backup'), '');

  const { code, stdout, stderr } = await runProgram(['move'], settings);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(
    /^Moved 67 products, \d+ upvotes and 24 comments as of \S+ to \S+\.\nSet DATABASE_URL to the target's URL, then start the site\. The old database still contains the site\.\n$/,
  );
  const { password } = new URL(target.url);
  if (password !== '') expect(stdout).not.toContain(password);
  expect((await readdir(DATA_DIR)).filter((name) => name.startsWith('move-'))).toEqual([]);

  const log = await runProgram(['log', '--limit', '1'], { DATABASE_URL: target.url });
  expect(log.stdout).toContain(` rows from ${DATA_DIR}/postgres.`);

  const moved = await harness.serve({ DATABASE_URL: target.url, LOG_LEVEL });
  expect(await list(moved.address)).toEqual(before);
  const again = await runProgram(['move', '--to', target.url], { DATA_DIR });
  expectRefusal(again, /not empty: it has 67 products/);
  const running = await runProgram(['move', '--to', other.url], { DATABASE_URL: target.url });
  expectRefusal(running, /A site is running with the current database/);
  moved.process.kill('SIGTERM');
  await moved.exited;
  // The command also moves a site from one server to another.
  const json = await runProgram(['move', '--json', '--to', other.url], { DATABASE_URL: target.url });
  expect(json).toMatchObject({ code: 0, stderr: '' });
  expect(JSON.parse(json.stdout)).toMatchObject({
    to: expect.stringContaining(new URL(other.url).pathname),
    backup: 'groundswell',
  });
  const old = await harness.serve({ DATA_DIR, LOG_LEVEL });
  expect(await list(old.address)).toEqual(before);
});

test('move is refused while a site runs in the same schema, but not because of a site in another schema of the database', async () => {
  const urlOf = (schema: string) => {
    const url = new URL(other.url);
    url.searchParams.set('options', `-csearch_path=${schema}`);
    return url.href;
  };
  for (const schema of ['running', 'stopped']) await other.query(`CREATE SCHEMA ${schema}`);
  // Each process of a running site has such a listener.
  let listening: NotificationListener | undefined;
  try {
    await new Promise<void>((resolve) => {
      const listener = { onListening: () => resolve(), onNotification: () => {} };
      listening = new NotificationListener(urlOf('running'), CHANNEL, listener);
    });
    // Suppresses the warning that the schemas lack pg_trgm.
    const move = (schema: string) =>
      runProgram(['move', '--to', target.url], { DATABASE_URL: urlOf(schema), LOG_LEVEL: 'error' });
    expectRefusal(await move('running'), /A site is running with the current database/);
    expect(await move('stopped')).toMatchObject({ code: 0, stderr: '' });
  } finally {
    await listening?.stop();
  }
});

test('move is refused while a site runs, even if a pooler prevents it from listening, and works after the site has stopped', async () => {
  const source = await createTestDatabase();
  const noop = () => {};
  const poller = pollChanges(source, silentLog, {
    onHistory: noop,
    onChange: noop,
    onObservedUpTo: noop,
    onGap: noop,
    onDisconnect: noop,
  });
  const move = () => runProgram(['move', '--to', target.url], { DATABASE_URL: source.url, LOG_LEVEL });
  try {
    await poller.firstAttempt;
    expectRefusal(await move(), /A site is running with the current database/);
    poller.stop();
    // The database connection stays open, as a pooler keeps it.
    await expect.poll(move).toMatchObject({ code: 0, stderr: '' });
  } finally {
    poller.stop();
    await source.drop();
  }
});

test('move exits 2 without a database or a valid target and 1 for an unreachable target, and prints no password', async () => {
  const DATA_DIR = await harness.dataDir();
  const run = (parameters: string[], settings = {}) => runProgram(['move', ...parameters], { DATA_DIR, ...settings });
  expectRefusal(await run([]), /No target is given\. Set TARGET_DATABASE_URL, or add --to/);
  expectRefusal(
    await run(['--to', 'mysql://me:hunter2@db/site']),
    /^groundswell: --to: this is not a PostgreSQL URL; [^@]*:password@/,
  );
  const away = await run([], { TARGET_DATABASE_URL: 'postgres://me:hunter2@127.0.0.1:1/site' });
  expectFailure(away, 1, /target.*127\.0\.0\.1:1\/site.*(ECONNREFUSED|refused)/);
  expect(away.stderr).not.toContain('hunter2');
  expectRefusal(await run(['--to', target.url]), /data contains no database\./);
  await expect(readdir(DATA_DIR)).rejects.toThrow('ENOENT');
});
