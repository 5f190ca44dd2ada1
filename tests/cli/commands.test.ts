import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { databasesOf, Ground, installCommand, runCommand } from '../support/command.ts';

const ground = new Ground();

// Every start is a process or two, on a machine that has other things to do.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

beforeAll(installCommand);
afterEach(() => ground.clear());

/** Runs a command that must succeed and say nothing but its answer. */
async function answerOf(dataDir: string, ...parameters: string[]): Promise<string> {
  const { code, stdout, stderr } = await runCommand(parameters, { settings: { DATA_DIR: dataDir } });
  expect({ code, stderr }, stdout).toEqual({ code: 0, stderr: '' });
  return stdout;
}

describe('migrate', () => {
  test('it makes the schema, then there is nothing to do; no database is left running', async () => {
    const dataDir = await ground.dataDir();
    const { applied } = JSON.parse(await answerOf(dataDir, 'migrate', '--json'));
    expect(applied).toContain('0001_products_upvotes_comments.sql');
    expect(await databasesOf(dataDir)).toEqual([]);
    expect(JSON.parse(await answerOf(dataDir, 'migrate', '--json'))).toEqual({ applied: [] });
    expect(await answerOf(dataDir, 'migrate')).toBe('The schema is up to date.\n');
    expect(await databasesOf(dataDir)).toEqual([]);
  });
});

describe('sample', () => {
  test('load and remove, without a site: what each did, and no database is left running', async () => {
    const dataDir = await ground.dataDir();
    const { created } = JSON.parse(await answerOf(dataDir, 'sample', 'load', '--json'));
    expect(created).toBeGreaterThanOrEqual(48);
    expect(await answerOf(dataDir, 'sample', 'load')).toBe(`Added 0 of ${created} sample products.\n`);
    const engagement = JSON.parse(await answerOf(dataDir, 'sample', 'remove', '--engagement-only', '--yes', '--json'));
    expect(engagement).toMatchObject({ products: 0, kept: [] });
    expect(Math.min(engagement.comments, engagement.upvotes)).toBeGreaterThan(0);
    expect(await answerOf(dataDir, 'sample', 'remove', '--yes')).toBe(
      `Removed ${created} products, 0 sample comments and 0 sample upvotes.\n`,
    );
    expect(await databasesOf(dataDir)).toEqual([]);
  });

  test('beside a running site (api.md: safe while the site runs): it shows at once, and stays so after a restart', async () => {
    const dataDir = await ground.dataDir();
    const site = await ground.serve({ DATA_DIR: dataDir, LOG_LEVEL: 'warn' });
    const count = async (address: string) => {
      const { items } = await (await fetch(`${address}/api/products?limit=100`)).json();
      return items.length;
    };
    expect(JSON.parse(await answerOf(dataDir, 'migrate', '--json'))).toEqual({ applied: [] });
    expect(JSON.parse(await answerOf(dataDir, 'sample', 'load', '--json'))).toEqual({ created: 0 });
    expect(await count(site.address)).toBe(site.products);
    expect(JSON.parse(await answerOf(dataDir, 'sample', 'remove', '--yes', '--json'))).toMatchObject({
      products: site.products,
      kept: [],
    });
    // Another process's API shows it within half a second, on a machine that is not busy with other tests.
    await vi.waitFor(async () => expect(await count(site.address)).toBe(0), { timeout: 10_000 });
    site.process.kill('SIGTERM');
    expect(await site.ended).toMatchObject({ code: 0 });

    const again = await ground.serve({ DATA_DIR: dataDir, LOG_LEVEL: 'warn' });
    expect(again.products).toBe(0);
  });
});
