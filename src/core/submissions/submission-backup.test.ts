import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { openSubmissionHarness } from '../../../tests/support/submission-harness.ts';
import { createTestDatabase, MIGRATIONS } from '../../../tests/support/test-database.ts';
import { restoreBackup } from '../backups/restore-backup.ts';
import { writeBackup } from '../backups/write-backup.ts';
import { readMigrations } from '../database/migrate.ts';
import { createSubmissions } from './submissions.ts';

const harness = openSubmissionHarness();
const { site, clock, inHours } = harness;

test('a backup has only hashes of maker keys, and the keys work after a restore', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'groundswell-submissions-'));
  const target = await createTestDatabase();
  try {
    const network = Uint8Array.from([192, 0, 2, 7]);
    const { submission, makerKey } = await site.submissions.create(
      { name: 'Saved' },
      { session: 'session-of-a-maker', idempotencyKey: 'draft', network },
    );
    const scheduled = await harness.submit({ launchAt: inHours(1).toISOString() });
    await harness.approve(scheduled.id);
    const path = join(folder, 'site.backup');
    await writeBackup(site.database, path, { groundswell: '1.2.3' });
    const [secret] = await site.database.query<{ hex: string }>(
      "SELECT encode(secret, 'hex') AS hex FROM site_secrets",
    );
    const content = gunzipSync(await readFile(path)).toString('latin1');
    expect(content).toContain('"saved"');
    for (const hidden of [makerKey, scheduled.makerKey, 'session-of-a-maker', secret?.hex ?? '']) {
      expect(hidden).not.toBe('');
      expect(content).not.toContain(hidden);
    }

    const migrations = (await readMigrations(MIGRATIONS)).map(({ name }) => name);
    const restore = (replace: boolean) => restoreBackup(target, path, { replace, migrations, target: 'site.backup' });
    await restore(false);
    const restored = createSubmissions(target, { runtime: clock, timeZone: 'UTC', getStandings: async () => null });
    expect(await restored.get({ id: submission.id, makerKey })).toEqual(
      await site.submissions.get({ id: submission.id, makerKey }),
    );
    expect(await restored.get(scheduled)).toMatchObject({ status: 'scheduled' });

    await target.query('DELETE FROM products');
    await expect(restore(false)).rejects.toThrow('it has 2 submissions. Add --replace');
    expect(await restored.get({ id: submission.id, makerKey })).not.toBeNull();
    await restore(true);
  } finally {
    await target.drop();
    await rm(folder, { recursive: true, force: true });
  }
});
