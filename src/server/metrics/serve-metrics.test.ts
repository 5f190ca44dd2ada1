import { expect, test } from 'vitest';
import { silentLog } from '../../../tests/support/silent-log.ts';
import { startMetricsServer } from './serve-metrics.ts';

test('the metrics port limits the number of connections and the time of requests', async () => {
  const metrics = { contentType: 'text/plain', text: async () => '' };
  const server = await startMetricsServer(metrics, { host: '127.0.0.1', port: 0, token: undefined, log: silentLog });
  try {
    const { maxConnections, headersTimeout, requestTimeout } = server.server;
    expect(maxConnections).toBe(50);
    expect(headersTimeout).toBe(10_000);
    expect(requestTimeout).toBe(180_000);
  } finally {
    await server.close();
  }
});
