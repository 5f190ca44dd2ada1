import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type BackupHeader, MARKER, markerLine } from '../../src/core/backups/backup-file.ts';
import { loadSample } from '../../src/core/catalogue/load-sample.ts';
import { readSampleCatalogue } from '../../src/core/catalogue/sample-catalogue.ts';
import { checkCounts } from '../../src/core/counts/check-counts.ts';
import { saveProducts } from '../../src/core/products/save-products.ts';
import { systemRuntime } from '../../src/core/runtime.ts';
import { PACKAGE_FOLDERS } from '../../src/settings/package-root.ts';
import { buildProduct } from '../support/build-product.ts';
import { CommandHarness, expectRefusal } from '../support/command.ts';
import { installCommand } from '../support/installed-command.ts';
import { runProgram } from '../support/program.ts';
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts';

const UPVOTES = 2_000;

const harness = new CommandHarness();
const backups = new CommandHarness();
/** A backup of the sample catalogue with many upvotes on `git`. */
let path: string;
let backedUp: object;

beforeAll(async () => {
  await installCommand();
  path = join(await backups.folder(), 'site.backup');
  const database = await createTestDatabase();
  await loadSample(database, await readSampleCatalogue(PACKAGE_FOLDERS.catalogue), systemRuntime);
  await database.query(
    "INSERT INTO upvotes (id, product_id, user_session) SELECT gen_random_uuid(), 'git', 'session-' || i FROM generate_series(1, $1::integer) AS i",
    [UPVOTES],
  );
  await database.query("UPDATE product_counts SET upvotes = upvotes + $1::integer WHERE product_id = 'git'", [UPVOTES]);
  expect(await runProgram(['backup', path], { DATABASE_URL: database.url })).toMatchObject({ code: 0, stderr: '' });
  backedUp = await contentsOf(database);
  await database.drop();
});
afterEach(() => harness.clear());
afterAll(() => backups.clear());

async function contentsOf(database: TestDatabase): Promise<object> {
  const { wrong } = await checkCounts(database, { after: '', limit: 1_000 });
  const [row] = await database.query<{ products: number; upvotes: number; comments: number }>(
    `SELECT (SELECT count(*) FROM products)::integer AS products, (SELECT count(*) FROM upvotes)::integer AS upvotes,
       (SELECT count(*) FROM comments)::integer AS comments`,
  );
  return { ...row, wrong };
}

describe('refused restores', () => {
  test.each<[string, (file: Buffer) => Buffer | undefined, RegExp]>([
    ['a truncated file', (file) => file.subarray(0, file.length / 2), /is truncated\. Nothing was changed\.$/],
    [
      'a damaged file',
      (file) => Buffer.concat([file.subarray(0, 200), file.subarray(210)]),
      /Cannot restore from .*: .*Nothing was changed\.$/,
    ],
    ['a file of another kind', () => Buffer.from('id,name\n'), /damaged, or not a backup/],
    ['a file that does not exist', () => undefined, /there is no such file/],
  ])('restore exits 2 with one line, and creates no database, for %s', async (_, change, reason) => {
    const broken = join(await harness.folder(), 'broken.backup');
    const file = change(await readFile(path));
    if (file) await writeFile(broken, file);
    const empty = await harness.dataDir();
    expectRefusal(await runProgram(['restore', '--replace', '--yes', broken], { DATA_DIR: empty }), reason);
    await expect(readdir(empty)).rejects.toThrow('ENOENT');
  });

  test('restore refuses an export, and names the command that reads the export', async () => {
    const path = join(await harness.folder(), 'site.jsonl');
    await writeFile(path, '{"id":"git","name":"Git"}\n');
    const result = await runProgram(['restore', path], { DATA_DIR: await harness.dataDir() });
    expectRefusal(result, /site\.jsonl is not a backup.*`groundswell import site\.jsonl`/);
  });

  test('restore refuses files that can be read only once', async () => {
    const dataDir = await harness.dataDir();
    const pipe = join(await harness.folder(), 'pipe');
    execFileSync('mkfifo', [pipe]);
    for (const file of [pipe, '/dev/null']) {
      expectRefusal(await runProgram(['restore', file], { DATA_DIR: dataDir }), /Save it to a file/);
    }
  });

  test('restore --replace without --yes and without a terminal is refused before the file is read', async () => {
    const dataDir = await harness.dataDir();
    const result = await runProgram(['restore', '--replace', 'no-such-file'], { DATA_DIR: dataDir });
    expectRefusal(result, /there is no terminal\. Add --yes/);
    await expect(readdir(dataDir)).rejects.toThrow('ENOENT');
  });
});

test('a backup that lacks tables is restored with a warning that names them', async () => {
  const lines = gunzipSync(await readFile(path))
    .toString('utf8')
    .split('\n')
    .slice(0, -1);
  const header = JSON.parse(lines[0]?.slice(1) ?? '') as BackupHeader;
  const without = ['upvotes', 'comments'];
  header.tables = header.tables.filter(({ name }) => !without.includes(name));
  const first = markerLine(header);
  let isSkipped = false;
  const rest = lines.slice(1, -1).filter((line) => {
    const mark = line.startsWith(MARKER) ? (JSON.parse(line.slice(1)) as { begin?: string; done?: string }) : {};
    if (without.includes(mark.begin ?? '')) isSkipped = true;
    const isLeftOut = isSkipped;
    if (mark.done !== undefined) isSkipped = false;
    return !isLeftOut;
  });
  const end = markerLine({ end: true, sha256: createHash('sha256').update(first).digest('hex') });
  const partial = join(await harness.folder(), 'partial.backup');
  await writeFile(partial, gzipSync(Buffer.concat([first, Buffer.from(`${rest.join('\n')}\n`), end])));
  const database = await createTestDatabase();
  const { code, stderr } = await runProgram(['restore', partial], { DATABASE_URL: database.url });
  await database.drop();
  expect([code, stderr]).toEqual([
    0,
    expect.stringContaining(
      'Warning: the backup lacks upvotes, comments. After the restore, these tables will be empty.',
    ),
  ]);
});

/** The moments at which a restore is killed. At each, a trigger waits for a lock that the test holds. */
const MOMENTS: [what: string, trigger: string][] = [
  ['before it deletes the first row', 'BEFORE DELETE ON removed_comments FOR EACH STATEMENT'],
  ['when it has deleted everything except the products', 'BEFORE DELETE ON products FOR EACH STATEMENT'],
  [
    'in the middle of the upvotes',
    `BEFORE INSERT ON upvotes FOR EACH ROW WHEN (NEW.user_session = 'session-${UPVOTES / 2}')`,
  ],
  ['after the last row, just before it commits', 'BEFORE INSERT ON changes FOR EACH STATEMENT'],
];
const WAIT = `CREATE FUNCTION wait_for_test() RETURNS trigger LANGUAGE plpgsql
  AS 'BEGIN PERFORM pg_advisory_xact_lock(12); RETURN COALESCE(NEW, OLD); END'`;

describe('a killed restore', () => {
  let database: TestDatabase;
  let before: object;

  beforeAll(async () => {
    database = await createTestDatabase();
    await saveProducts(database, [buildProduct({ id: 'tide' }), buildProduct({ id: 'ebb' })]);
    await database.query(WAIT);
    before = await contentsOf(database);
    expect(before).not.toEqual(backedUp);
  });
  afterAll(() => database.drop());

  const restore = () =>
    harness.start(['restore', '--replace', '--yes', path], { settings: { DATABASE_URL: database.url } });
  /** Returns the wait events of the other backends for which an SQL condition is true. */
  const backends = async (condition: string) =>
    (
      await database.query<{ event: string }>(
        `SELECT wait_event AS event FROM pg_stat_activity
         WHERE datname = current_database() AND pid <> pg_backend_pid() AND ${condition}`,
      )
    ).map(({ event }) => event);

  test.each(MOMENTS)('leaves the site unchanged if it was killed %s', async (_, trigger) => {
    await database.query(`CREATE TRIGGER held ${trigger} EXECUTE FUNCTION wait_for_test()`);
    await database.transaction(async (sql) => {
      await sql.query('SELECT pg_advisory_xact_lock(12)');
      const command = restore();
      await expect.poll(() => backends("wait_event_type = 'Lock'")).toEqual(['advisory']);
      command.process.kill('SIGKILL');
      expect(await command.exited).toMatchObject({ signal: 'SIGKILL' });
    });
    // Waits until the server has detected the closed connection and has rolled back.
    await expect.poll(() => backends('xact_start IS NOT NULL')).toEqual([]);
    await database.query(`DROP TRIGGER held ON ${/ ON (\w+) /.exec(trigger)?.[1]}`);
    expect(await contentsOf(database)).toEqual(before);
  });

  test('does not prevent the next restore', async () => {
    expect(await restore().exited).toMatchObject({ code: 0, stderr: '' });
    expect(await contentsOf(database)).toEqual(backedUp);
  });
});
