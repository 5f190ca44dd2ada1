import { mkdir, readdir, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { EmbeddedHarness } from '../../../../tests/support/embedded-harness.ts';
import { errorLine, lastServerLine, pruneLogs, START_LOG } from './server-log.ts';

const harness = new EmbeddedHarness();
afterAll(() => harness.clear());

describe("PostgreSQL's log", () => {
  it("PostgreSQL's log is limited to its ten newest files", async () => {
    const clusterDir = await harness.folder();
    await mkdir(join(clusterDir, 'log'));
    const names = Array.from(
      { length: 13 },
      (_, day) => `postgresql-2026-01-${String(day + 1).padStart(2, '0')}_000000.log`,
    );
    for (const name of names) await writeFile(join(clusterDir, 'log', name), '');
    pruneLogs({ clusterDir, account: { kind: 'self' } });
    expect((await readdir(join(clusterDir, 'log'))).sort()).toEqual(names.slice(3));
  });

  it('the current log file remains and is read, even if other files were written while the clock was years ahead', async () => {
    const cluster = { clusterDir: await harness.folder(), account: { kind: 'self' } } as const;
    const folder = join(cluster.clusterDir, 'log');
    await mkdir(folder);
    for (let day = 10; day < 20; day += 1) {
      const path = join(folder, `postgresql-2099-01-${day}_000000.log`);
      await writeFile(path, 'FATAL:  old\n');
      await utimes(path, new Date(`2099-01-${day}`), new Date(`2099-01-${day}`));
    }
    const current = 'postgresql-2026-01-01_000000.log';
    await writeFile(join(folder, current), 'FATAL:  current\n');
    const soon = new Date(Date.now() + 5_000);
    await utimes(join(folder, current), soon, soon);
    await writeFile(join(cluster.clusterDir, START_LOG), 'LOG:  redirecting log output to logging collector process\n');
    expect(lastServerLine(cluster)).toBe('FATAL:  current');
    pruneLogs(cluster);
    const left = await readdir(folder);
    expect(left).toHaveLength(10);
    expect(left).toContain(current);
  });

  it.each([
    [
      '2026-01-01 10:00:00.000 UTC [7] FATAL:  could not bind\n2026-01-01 10:00:00.001 UTC [7] LOG:  shut down\n',
      'FATAL:  could not bind',
    ],
    [
      'LOG:  unrecognized "x" in line 3\nFATAL:  file "postgresql.conf" contains errors\n',
      'LOG:  unrecognized "x" in line 3',
    ],
    ['starting\nstill starting\n', 'still starting'],
    ['', 'PostgreSQL printed no message'],
  ])('the reason why a server ended is found in its log: %j', (log, line) => {
    expect(errorLine(log)).toBe(line);
  });
});
