import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { CommandHarness, databasePids, expectRefusal, runCommand } from '../support/command.ts';
import { installCommand } from '../support/installed-command.ts';
import { outputOf, runProgram } from '../support/program.ts';
import { createTestDatabase } from '../support/test-database.ts';

const harness = new CommandHarness();

beforeAll(installCommand);
afterEach(() => harness.clear());

/** Runs a command that must succeed and print only its result. */
async function run(dataDir: string, ...parameters: string[]): Promise<string> {
  return outputOf(await runProgram(parameters, { DATA_DIR: dataDir }));
}

/** Does the same as `run`, but in a separate process. */
async function runAsProcess(dataDir: string, ...parameters: string[]): Promise<string> {
  return outputOf(await runCommand(parameters, { settings: { DATA_DIR: dataDir } }));
}

describe('migrate', () => {
  test('creates the schema once, and leaves no database running', async () => {
    const dataDir = await harness.dataDir();
    const { applied } = JSON.parse(await runAsProcess(dataDir, 'migrate', '--json'));
    expect(applied).toContain('0001_initial.sql');
    expect(await databasePids(dataDir)).toEqual([]);
    expect(JSON.parse(await run(dataDir, 'migrate', '--json'))).toEqual({ applied: [] });
    expect(await runAsProcess(dataDir, 'migrate')).toBe('The schema is up to date.\n');
    expect(await databasePids(dataDir)).toEqual([]);
  });
});

test.each([
  ['comments', 'list'],
  ['console', 'invite', 'ada'],
  ['counts', 'check'],
  ['export', '-'],
  ['log', '--json'],
  ['products', 'list'],
  ['sample', 'remove', '--yes'],
])('%s %s exits 2 without a database, and creates none', async (...parameters) => {
  const DATA_DIR = await harness.dataDir();
  expectRefusal(
    await runProgram(parameters, { DATA_DIR }),
    new RegExp(`${DATA_DIR} contains no database\\. .*DATA_DIR and DATABASE_URL\\.$`),
  );
  await expect(readdir(DATA_DIR)).rejects.toThrow('ENOENT');
});

test('a command exits 2 in an existing folder without a database, and creates none', async () => {
  const DATA_DIR = await harness.folder();
  expectRefusal(await runProgram(['products', 'list'], { DATA_DIR }), /contains no database\./);
  expect(await readdir(DATA_DIR)).not.toContain('postgres');
});

test('a blank LOG_LEVEL counts as unset, so a command logs only warnings', async () => {
  const settings = { DATA_DIR: await harness.dataDir(), LOG_LEVEL: ' ' };
  expect(outputOf(await runCommand(['migrate', '--json'], { settings }))).toContain('0001_initial.sql');
});

test('a command that is not confirmed says so on standard error, and prints nothing on standard output with --json', async () => {
  const dataDir = await harness.sampleDataDir();
  const file = join(await harness.folder(), 'site.backup');
  await run(dataDir, 'backup', file);
  // Simulates a terminal on which the question gets no answer.
  const NODE_OPTIONS = '--import data:text/javascript,process.stdin.isTTY=process.stderr.isTTY=true';
  for (const parameters of [
    ['products', 'remove', 'git'],
    ['sample', 'remove'],
    ['restore', '--replace', file],
  ]) {
    const settings = { DATA_DIR: dataDir, NODE_OPTIONS };
    const { code, stdout, stderr } = await runCommand([...parameters, '--json'], { settings });
    expect({ code, stdout }, stderr).toEqual({ code: 0, stdout: '' });
    expect(stderr).toMatch(/Nothing was (?:removed|changed)\.\n$/);
  }
});

describe('sample', () => {
  test('load and remove report their changes without a running site, and leave no database running', async () => {
    const dataDir = await harness.dataDir();
    const { created } = JSON.parse(await runAsProcess(dataDir, 'sample', 'load', '--json'));
    expect(created).toBeGreaterThanOrEqual(48);
    expect(await run(dataDir, 'sample', 'load')).toBe(`Added 0 of ${created} sample products.\n`);
    const engagement = JSON.parse(await run(dataDir, 'sample', 'remove', '--engagement-only', '--yes', '--json'));
    expect(engagement).toMatchObject({ products: 0, notRemoved: [] });
    expect(Math.min(engagement.comments, engagement.upvotes)).toBeGreaterThan(0);
    expect(await run(dataDir, 'sample', 'remove', '--yes')).toBe(
      `Removed ${created} sample products, 0 sample upvotes and 0 sample comments.\n`,
    );
    expect(await databasePids(dataDir)).toEqual([]);
  });

  test('remove has no statement timeout, because the sample products may have many upvotes', async () => {
    const database = await createTestDatabase();
    const settings = { DATABASE_URL: database.url };
    await runProgram(['sample', 'load'], settings);
    await database.query(`CREATE TABLE timeouts AS SELECT '' AS value WHERE false;
      CREATE FUNCTION note_timeout() RETURNS trigger LANGUAGE plpgsql
        AS 'BEGIN INSERT INTO timeouts SELECT current_setting(''statement_timeout''); RETURN NULL; END';
      CREATE TRIGGER note AFTER DELETE ON products EXECUTE FUNCTION note_timeout()`);
    outputOf(await runProgram(['sample', 'remove', '--yes'], settings));
    expect(await database.query('SELECT DISTINCT value FROM timeouts')).toEqual([{ value: '0' }]);
    await database.drop();
  });

  test('a running site shows the changes of the commands, even after a restart', async () => {
    const dataDir = await harness.sampleDataDir();
    const site = await harness.serve({ DATA_DIR: dataDir, LOG_LEVEL: 'warn' });
    const count = async (address: string) => {
      const { items } = await (await fetch(`${address}/api/products?limit=100`)).json();
      return items.length;
    };
    expect(JSON.parse(await run(dataDir, 'migrate', '--json'))).toEqual({ applied: [] });
    expect(JSON.parse(await run(dataDir, 'sample', 'load', '--json'))).toEqual({ created: 0 });
    expect(await count(site.address)).toBe(site.products);
    expect(JSON.parse(await run(dataDir, 'sample', 'remove', '--yes', '--json'))).toMatchObject({
      products: site.products,
      notRemoved: [],
    });
    await expect.poll(() => count(site.address)).toBe(0);
    site.process.kill('SIGTERM');
    expect(await site.exited).toMatchObject({ code: 0 });

    const again = await harness.serve({ DATA_DIR: dataDir, LOG_LEVEL: 'warn' });
    expect(again.products).toBe(0);
  });
});
