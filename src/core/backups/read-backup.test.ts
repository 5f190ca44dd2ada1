import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { verifyBackup } from './read-backup.ts';

test('a backup with a row of 70 MB, such as an exclusion of many votes, can be read', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'groundswell-backup-'));
  const path = join(folder, 'wide.backup');
  const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
  const line = (marker: object) => `#${JSON.stringify(marker)}\n`;
  const about = { backup: 'groundswell', version: 1, createdAt: new Date().toISOString(), migrations: [] };
  const header = line({ ...about, tables: [{ name: 'audit_log', columns: ['details'], rows: 1 }] });
  const row = `{"details":"${'x'.repeat(70_000_000)}"}\n`;
  const [begin, done] = [line({ begin: 'audit_log' }), line({ done: 'audit_log', sha256: sha256(row) })];
  const end = line({ end: true, sha256: sha256(header) });
  await writeFile(path, gzipSync([header, begin, row, done, end].join(''), { level: 1 }));
  expect(await verifyBackup(path)).toMatchObject(about);
  await rm(folder, { recursive: true });
});
