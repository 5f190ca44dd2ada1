import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createTestDatabase } from '../../../tests/support/test-database.ts';
import { NotificationListener } from './listen.ts';

test('connecting is retried while the file of `sslrootcert` cannot be read', async () => {
  const database = await createTestDatabase({ migrated: false });
  const folder = await mkdtemp(join(tmpdir(), 'groundswell-listen-'));
  onTestFinished(async () => {
    await database.drop();
    await rm(folder, { recursive: true });
  });
  const url = new URL(database.url);
  url.searchParams.set('sslrootcert', join(folder, 'ca.pem'));
  // The driver reads the file even without TLS, which the server may not support.
  url.searchParams.set('sslmode', 'disable');
  let isListening = false;
  const onListening = () => {
    isListening = true;
  };
  const listener = new NotificationListener(url.href, 'changes', { onListening, onNotification: () => {} });
  await writeFile(join(folder, 'ca.pem'), '');
  await expect.poll(() => isListening).toBe(true);
  await listener.stop();
});
