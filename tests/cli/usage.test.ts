import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { createServer } from 'node:net';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { CommandHarness, expectFailure, expectRefusal, runCommand } from '../support/command.ts';
import { installCommand } from '../support/installed-command.ts';
import { type ProgramRun, runProgram } from '../support/program.ts';

const harness = new CommandHarness();

beforeAll(installCommand);
afterEach(() => harness.clear());

/** Runs `serve`, which handles signals, in a separate process, and other commands in this process. */
function run(parameters: readonly string[], settings: Record<string, string> = {}): Promise<ProgramRun> {
  return parameters[0] === 'serve' ? runCommand(parameters, { settings }) : runProgram(parameters, settings);
}

/** Occupies a port until `release` is called. */
async function takePort(): Promise<{ port: number; release: () => void }> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('The server has no port');
  return { port: address.port, release: () => server.close() };
}

describe('usage', () => {
  test('--help lists commands and exits 0', async () => {
    const { code, stdout, stderr } = await runCommand(['--help']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    for (const name of ['serve', 'migrate', 'sample']) expect(stdout).toMatch(new RegExp(`^ +${name}\\b`, 'm'));
  });

  test.each([
    [['nonsense'], /unknown command 'nonsense'/],
    [['serve', '--nonsense'], /unknown option '--nonsense'/],
    [['sample', 'nonsense'], /unknown command 'nonsense'/],
    [['migrate', 'now'], /too many arguments/],
    [['import', 'products.json', '--images', ''], /'--images <folder>' argument '' is invalid. It must not be empty/],
    [[], /Usage: groundswell/],
    [['sample'], /Usage: groundswell sample/],
  ])('%j exits 2 with a message on standard error, without a stack trace', async (parameters, message) => {
    const { code, stdout, stderr } = await run(parameters);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(message);
    expect(stderr).not.toMatch(/^ +at /m);
  });

  test.each(['products remove git', 'comments hide 5a3b1e00', 'submissions decline git', 'votes exclude git'])(
    '%s refuses a reason of more than 1,000 characters, which is also the limit in the console',
    async (command) => {
      const { code, stderr } = await run([...command.split(' '), '--reason', 'x'.repeat(1_001)]);
      expect(code).toBe(2);
      expect(stderr).toMatch(/It can have at most 1,000 characters/);
    },
  );
});

describe('invalid settings', () => {
  test.each([[['serve']], [['migrate']], [['sample', 'load']]])(
    'are listed by %s, one per line, with exit code 2',
    async (parameters) => {
      const dataDir = await harness.dataDir();
      const settings = {
        DATA_DIR: dataDir,
        PORT: 'eighty',
        SITE_URL: 'https://me:hunter2@site.example',
        SAMPLE_CATALOGUE: 'maybe',
        LOG_LEVEL: 'loud',
        DATABASE_URL: 'mysql://me:hunter2@db/site',
      };
      const result = await run(parameters, settings);
      expectRefusal(result, /PORT: /, /DATABASE_URL: /, /SITE_URL: /, /SAMPLE_CATALOGUE: /, /LOG_LEVEL: /);
      expect(result.stderr).not.toContain('hunter2');
      await expect(readdir(dataDir)).rejects.toThrow('ENOENT');
    },
  );
});

describe('an unreachable database', () => {
  test.each([[['serve']], [['migrate']], [['sample', 'load']], [['sample', 'remove', '--yes']]])(
    '%s exits 1 with one line of advice if no server listens at DATABASE_URL',
    async (parameters) => {
      const settings = { PORT: '0', LOG_LEVEL: 'warn', DATABASE_URL: 'postgres://me:hunter2@127.0.0.1:1/site' };
      const result = await run(parameters, settings);
      expectFailure(result, 1, /127\.0\.0\.1:\d+\/site.*(ECONNREFUSED|refused).*[Cc]heck/);
      expect(result.stderr).not.toContain('hunter2');
    },
  );
});

describe('serve on an unavailable address', () => {
  test('exits 2 with one line of advice for a busy port, and creates no database', async () => {
    const dataDir = await harness.dataDir();
    const { port, release } = await takePort();
    const result = await runCommand(['serve'], { settings: { PORT: `${port}`, LOG_LEVEL: 'warn', DATA_DIR: dataDir } });
    release();
    expectRefusal(result, new RegExp(`PORT: another program already listens on 127\\.0\\.0\\.1:${port}\\. .*set PORT`));
    await expect(readdir(dataDir)).rejects.toThrow('ENOENT');
  });

  test('exits 2 with one line of advice for an address of another machine, and creates no database', async () => {
    const dataDir = await harness.dataDir();
    // No machine has an address in TEST-NET-1 (RFC 5737).
    const settings = { HOST: '192.0.2.1', PORT: '0', LOG_LEVEL: 'warn', DATA_DIR: dataDir };
    expectRefusal(await runCommand(['serve'], { settings }), /HOST: '192\.0\.2\.1' is not an address of this machine/);
    await expect(readdir(dataDir)).rejects.toThrow('ENOENT');
  });
});

describe('commands that ask for confirmation', () => {
  test('sample remove without --yes and without a terminal exits 2 with one line of advice and changes nothing', async () => {
    const dataDir = await harness.dataDir();
    const result = await run(['sample', 'remove'], { DATA_DIR: dataDir });
    expectRefusal(result, /--yes/);
    await expect(readdir(dataDir)).rejects.toThrow('ENOENT');
  });
});
