import { onlineManager } from '@tanstack/react-query';
import { expect, onTestFinished, test } from 'vitest';
import { createConsoleClient } from './console-api.ts';

test('while the browser is offline, reads and changes fail instead of waiting silently', async () => {
  onlineManager.setOnline(false);
  onTestFinished(() => onlineManager.setOnline(true));
  const client = createConsoleClient();
  const fail = () => Promise.reject(new Error('Offline'));
  const read = client
    .getQueryCache()
    .build(client, client.defaultQueryOptions({ queryKey: ['comments'], queryFn: fail }));
  read.fetch().catch(() => {});
  expect(read.state.fetchStatus).toBe('fetching');
  const change = client.getMutationCache().build(client, { mutationFn: fail });
  change.execute(undefined).catch(() => {});
  await expect.poll(() => change.state).toMatchObject({ status: 'error', isPaused: false });
});
