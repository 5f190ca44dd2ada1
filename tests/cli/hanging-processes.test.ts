import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeAll, expect, test } from 'vitest';
import { Ground, installCommand } from '../support/command.ts';

const run = promisify(execFile);

const ground = new Ground();
beforeAll(installCommand, 120_000);
afterEach(() => ground.clear());

/** A process of the site that is sent this signal begins to do something that never ends. */
const LOOP_ON_SIGNAL = `process.on('SIGUSR2', () => { for (;;); });`;

async function workersOf(pid: number | undefined): Promise<number[]> {
  const { stdout } = await run('ps', ['-o', 'pid=,args=', '--ppid', String(pid)]);
  const lines = stdout.split('\n').filter((line) => line.includes('cli.js serve'));
  return lines.map((line) => Number.parseInt(line, 10));
}

test('a process that is stopped and one in an endless loop are killed and replaced, while the third one serves', async () => {
  const loop = join(await ground.folder(), 'loop.mjs');
  await writeFile(loop, LOOP_ON_SIGNAL);
  const site = await ground.serve({
    DATA_DIR: await ground.dataDir(),
    LOG_LEVEL: 'error',
    WEB_CONCURRENCY: '3',
    NODE_OPTIONS: `--import ${loop}`,
  });
  const [stopped, looping, third] = await workersOf(site.process.pid);
  if (stopped === undefined || looping === undefined) throw new Error('There are not three processes');
  process.kill(stopped, 'SIGSTOP');
  process.kill(looping, 'SIGUSR2');
  // Each of the two may have been handed one connection that it never answers.
  const ask = (): Promise<number> =>
    fetch(`${site.address}/healthz`, { headers: { connection: 'close' }, signal: AbortSignal.timeout(2_000) }).then(
      ({ status }) => status,
      () => 0,
    );
  const answers = [await ask(), await ask(), await ask(), await ask(), await ask()];
  expect(answers.filter((status) => status === 200).length).toBeGreaterThanOrEqual(3);

  for (const pid of [stopped, looping])
    await site.says(new RegExp(`(?=.*does not answer any more, and is killed)(?=.*"pid":${pid}\\b)`));
  const now = () => workersOf(site.process.pid);
  await expect.poll(async () => (await now()).length, { timeout: 60_000 }).toBe(3);
  expect(await now()).toContain(third);
  expect(await now()).not.toContain(stopped);
  expect(await now()).not.toContain(looping);
  await expect.poll(ask, { timeout: 60_000 }).toBe(200);
  site.process.kill('SIGTERM');
  expect(await site.ended).toMatchObject({ code: 0 });
}, 240_000);
