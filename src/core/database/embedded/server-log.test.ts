import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { EmbeddedHarness } from '../../../../tests/support/embedded-harness.ts';
import { errorLine, pruneLogs } from './server-log.ts';

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
