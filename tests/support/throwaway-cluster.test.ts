import { mkdtemp, readdir, readFile, stat, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { buildEmbeddedProcess, EmbeddedHarness, query, waitUntilNoProcesses } from './embedded-harness.ts';
import { startThrowawayCluster } from './throwaway-cluster.ts';

const harness = new EmbeddedHarness();
afterAll(() => harness.clear());

describe('a throwaway cluster', () => {
  it('is durable by default, and its folder is deleted after it stops', async () => {
    const durable = await startThrowawayCluster();
    const fast = await startThrowawayCluster({ durability: 'none' });
    expect(await query(durable.url, 'SHOW fsync')).toEqual([{ fsync: 'on' }]);
    expect(await query(fast.url, 'SHOW fsync')).toEqual([{ fsync: 'off' }]);
    await query(fast.url, 'CREATE DATABASE another');
    for (const { url, stop } of [durable, fast]) {
      const folder = dirname(new URL(url).searchParams.get('host') ?? '');
      await stop();
      expect(await readdir(tmpdir())).not.toContain(basename(folder));
    }
  });

  it('removes the clusters of killed test runs, including their servers and shared memory', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'groundswell-throwaway-'));
    const killed = harness.start(await buildEmbeddedProcess(await harness.folder()), {
      dataDir,
      mode: 'own',
      durability: 'none',
    });
    const { location } = await killed.opened();
    // The seventh line contains the key and the id of the shared memory.
    const memory = (await readFile(join(location, 'postmaster.pid'), 'utf8')).split('\n')[6]?.trim().split(/\s+/) ?? [];
    expect(memory).toHaveLength(2);
    const isLinux = process.platform === 'linux';
    const shared = new RegExp(`^ *-?\\d+ +${memory[1]} `, 'm');
    if (isLinux) expect(await readFile('/proc/sysvipc/shm', 'utf8')).toMatch(shared);
    await killed.kill('SIGKILL');
    await utimes(dataDir, 0, 0);
    const next = await startThrowawayCluster({ durability: 'none' });
    await waitUntilNoProcesses(location);
    await expect(stat(dataDir)).rejects.toMatchObject({ code: 'ENOENT' });
    if (isLinux) expect(await readFile('/proc/sysvipc/shm', 'utf8')).not.toMatch(shared);
    await next.stop();
  });
});
