import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { inviteOperator } from '../../src/core/console/operators.ts';
import { beginSession } from '../../src/core/console/sessions.ts';
import { connect as connectDatabase } from '../../src/core/database/connect.ts';
import { saveProducts } from '../../src/core/products/save-products.ts';
import { blockedStatements } from '../support/blocked-statements.ts';
import { buildProduct } from '../support/build-product.ts';
import { CommandHarness, databasePids } from '../support/command.ts';
import { openEvents } from '../support/event-client.ts';
import { sendHalfComment } from '../support/half-sent-comment.ts';
import { installCommand } from '../support/installed-command.ts';
import { silentLog } from '../support/silent-log.ts';
import { createTestDatabase } from '../support/test-database.ts';

const harness = new CommandHarness();
beforeAll(installCommand);
afterEach(() => harness.clear());

/** Creates a site whose export is too large for the buffers of a pipe. */
async function bigDataDir(): Promise<string> {
  const dataDir = await harness.sampleDataDir();
  const { database, close } = await connectDatabase({ dataDir, mode: 'share', log: silentLog });
  await database.query(
    "INSERT INTO products (id, description) SELECT 'big-' || n, repeat('x', 9000) FROM generate_series(1, 1000) AS n",
  );
  await close();
  return dataDir;
}

test('after SIGTERM, the site completes requests in flight, does not wait for idle clients, and stops its database', async () => {
  const dataDir = await harness.sampleDataDir();
  const site = await harness.serve({ DATA_DIR: dataDir, LOG_LEVEL: 'warn' });
  const comment = await sendHalfComment(site.address);
  const page = await openEvents(`${site.address}/api/events`);
  const { hostname, port } = new URL(site.address);
  const deaf = connect(Number(port), hostname);
  deaf.write('GET /api/events HTTP/1.1\r\nHost: site\r\n\r\n');
  await once(deaf, 'data');
  deaf.pause();
  site.process.kill('SIGTERM');
  // The site ends streams when it begins to stop. The rest of the comment must arrive within five seconds, after which
  // the site aborts requests.
  await page.closed;
  comment.sendRest();
  // The clients leave their connections open. If the site waited for them, the stop would time out with exit code 1.
  expect(await site.exited).toMatchObject({ code: 0 });
  expect(comment.received()).toMatch(/^HTTP\/1\.1 201 /m);
  expect(comment.received().toLowerCase()).toContain('\r\nconnection: close\r\n');
  expect(await databasePids(dataDir)).toEqual([]);
  // The open stream got a reconnection delay before it ended.
  expect(page.response.complete).toBe(true);
  expect(page.text()).toMatch(/\nretry: \d+\n\n$/);
  for (const each of [comment.socket, deaf]) each.destroy();
});

test.each([
  ['one process', '1'],
  ['several processes', '2'],
])('a site of %s reports that it is stopping, and completes requests, while a backup hangs', async (_, processes) => {
  const database = await createTestDatabase();
  await saveProducts(database, [buildProduct({ id: 'git' })]);
  const folder = await harness.folder();
  await database.transaction(async (sql) => {
    await sql.query('LOCK TABLE audit_log IN ACCESS EXCLUSIVE MODE');
    const site = await harness.serve({
      DATABASE_URL: database.url,
      DATA_DIR: join(folder, 'data'),
      BACKUP_DIR: join(folder, 'backups'),
      LOG_LEVEL: 'warn',
      STOP_DELAY: '300',
      WEB_CONCURRENCY: processes,
    });
    await expect.poll(() => blockedStatements(database)).toHaveLength(1);
    const comment = await sendHalfComment(site.address);
    site.process.kill('SIGTERM');
    const readiness = () => fetch(`${site.address}/readyz`).then((response) => response.json());
    await expect.poll(readiness).toEqual({ status: 'stopping' });
    comment.sendRest();
    await expect.poll(comment.received).toMatch(/^HTTP\/1\.1 201 /m);
    comment.socket.destroy();
  });
  await harness.clear();
  await database.drop();
});

test('Ctrl-C stops the site even if it ends workers that do not handle signals yet', async () => {
  const dataDir = await harness.sampleDataDir();
  // A terminal sends the signal to all processes.
  const interrupt = `import { isWorker } from 'node:cluster';
    if (isWorker) for (const pid of [process.ppid, process.pid]) process.kill(pid, 'SIGINT');`;
  const site = harness.start(['serve'], {
    settings: {
      ...{ DATA_DIR: dataDir, LOG_LEVEL: 'warn', PORT: '0', WEB_CONCURRENCY: '2' },
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(interrupt)}`,
    },
  });
  expect(await site.exited).toMatchObject({ code: 0 });
  expect(await databasePids(dataDir)).toEqual([]);
});

test('an import in the console that waits for a lock does not prevent the site from stopping in time', async () => {
  const database = await createTestDatabase();
  await saveProducts(database, [buildProduct({ id: 'git' })]);
  await inviteOperator(database, 'ada', new Date());
  const cookie = `console_session=${await beginSession(database, 'ada', new Date())}`;
  const uploads = await harness.folder();
  const settings = {
    DATABASE_URL: database.url,
    DATA_DIR: await harness.dataDir(),
    TMPDIR: uploads,
    LOG_LEVEL: 'warn',
  };
  const site = await harness.serve(settings);
  await database.transaction(async (sql) => {
    await sql.query("SELECT FROM products WHERE id = 'git' FOR UPDATE");
    const imported = await fetch(`${site.address}/api/console/import?name=launches.csv&kind=csv`, {
      method: 'POST',
      headers: { cookie, 'sec-fetch-site': 'same-origin', 'content-type': 'application/octet-stream' },
      body: 'id,name\ngit,Imported\n',
    });
    expect(imported.status).toBe(200);
    await expect.poll(() => blockedStatements(database)).toHaveLength(1);
    site.process.kill('SIGTERM');
    expect(await site.exited).toMatchObject({ code: 0 });
    expect(await readdir(uploads)).toEqual([]);
    await imported.text().catch(() => undefined);
  });
  await harness.clear();
  await database.drop();
});

test.each([
  ['SIGINT', 'a backup', ['backup', 'site.backup'], 130],
  ['SIGTERM', 'an export', ['export', 'products.csv'], 143],
] as const)('%s ends %s that waits for a lock, and leaves no file', async (signal, _what, [name, file], code) => {
  const database = await createTestDatabase();
  const folder = await harness.folder();
  await database.transaction(async (sql) => {
    await sql.query('LOCK TABLE products');
    const command = harness.start([name, join(folder, file)], { settings: { DATABASE_URL: database.url } });
    await expect.poll(() => blockedStatements(database)).toHaveLength(1);
    command.process.kill(signal);
    expect(await command.exited).toMatchObject({ code, stdout: '', stderr: 'groundswell: Interrupted.\n' });
  });
  expect(await readdir(folder)).toEqual([]);
  await database.drop();
});

describe('after a signal, a command leaves no embedded database running', () => {
  /** Creates a site whose counts take a minute to read, longer than the timeout of doctor's statements. */
  async function slowDataDir(): Promise<string> {
    const dataDir = await harness.sampleDataDir();
    const { database, close } = await connectDatabase({ dataDir, mode: 'share', log: silentLog });
    await database.query('ALTER TABLE product_counts RENAME TO fast_counts');
    await database.query('CREATE VIEW product_counts AS SELECT fast_counts.* FROM fast_counts, pg_sleep(60)');
    await close();
    return dataDir;
  }

  /** Returns whether the database executes a SELECT, according to the titles of its processes. Works on Linux only. */
  async function isReading(dataDir: string): Promise<boolean> {
    const titles = (await databasePids(dataDir)).map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => ''));
    return (await Promise.all(titles)).some((title) => title.includes(' SELECT'));
  }

  const isStarting = async (dataDir: string) => (await databasePids(dataDir)).length > 0;

  test.each([
    ['SIGINT', 'while the database starts', isStarting, 130],
    ...(process.platform === 'linux' ? ([['SIGTERM', 'during a statement', isReading, 143]] as const) : []),
  ] as const)('%s %s ends counts check', async (signal, _when, isTime, code) => {
    const dataDir = await slowDataDir();
    const command = harness.start(['counts', 'check'], { settings: { DATA_DIR: dataDir } });
    await expect.poll(() => isTime(dataDir), { interval: 5 }).toBe(true);
    command.process.kill(signal);
    expect(await command.exited).toEqual({ code, signal: null, stdout: '', stderr: 'groundswell: Interrupted.\n' });
    expect(await databasePids(dataDir)).toEqual([]);
  });

  test('SIGINT ends doctor after the current check', async () => {
    const dataDir = await slowDataDir();
    const command = harness.start(['doctor'], { settings: { DATA_DIR: dataDir } });
    await command.waitForOutput(/database: /);
    command.process.kill('SIGINT');
    expect(await command.exited).toMatchObject({ code: 130, stderr: 'groundswell: Interrupted.\n' });
    expect(await databasePids(dataDir)).toEqual([]);
  });

  test('SIGTERM ends an export to a reader that has stopped reading', async () => {
    const dataDir = await bigDataDir();
    const command = harness.start(['export', '-'], { settings: { DATA_DIR: dataDir } });
    await command.waitForOutput(/"id"/);
    command.process.stdout?.pause();
    const { database, close } = await connectDatabase({ dataDir, mode: 'share', log: silentLog });
    let since: string | undefined;
    const isUnchanged = async () => {
      const before = since;
      const [transaction] = await database.query<{ since: string }>(
        "SELECT query_start::text AS since FROM pg_stat_activity WHERE state = 'idle in transaction'",
      );
      since = transaction?.since;
      return since !== undefined && since === before;
    };
    // Once the pipe is full, the export sends no further statement in its transaction.
    await expect.poll(isUnchanged, { interval: 200 }).toBe(true);
    await close();
    command.process.kill('SIGTERM');
    await once(command.process, 'exit');
    expect(command.process.exitCode).toBe(143);
    expect(await databasePids(dataDir)).toEqual([]);
  });
});

describe('when the reader of the output exits, as in `groundswell … | head`', () => {
  test('a command ends without an error, and leaves no embedded database running', async () => {
    const dataDir = await harness.sampleDataDir();
    const command = harness.start(['doctor'], { settings: { DATA_DIR: dataDir } });
    await command.waitForOutput(/settings: /);
    command.process.stdout?.destroy();
    expect(await command.exited).toMatchObject({ code: 0, stderr: '' });
    expect(await databasePids(dataDir)).toEqual([]);
  });

  test('an export that waits for the reader ends without an error, and leaves no embedded database running', async () => {
    const dataDir = await bigDataDir();
    const command = harness.start(['export', '-'], { settings: { DATA_DIR: dataDir } });
    await command.waitForOutput(/"id"/);
    command.process.stdout?.destroy();
    expect(await command.exited).toMatchObject({ code: 0, stderr: '' });
    expect(await databasePids(dataDir)).toEqual([]);
  });

  test('the site continues to serve', async () => {
    const dataDir = await harness.sampleDataDir();
    const site = await harness.serve({ DATA_DIR: dataDir });
    site.process.stdout?.destroy();
    // The site logs each unknown path, so it writes to the closed output.
    for (const path of ['/one', '/two', '/three']) expect((await fetch(`${site.address}${path}`)).status).toBe(404);
    site.process.kill('SIGTERM');
    expect(await site.exited).toMatchObject({ code: 0, stderr: '' });
    expect(await databasePids(dataDir)).toEqual([]);
  });
});
