import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
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

test('a connection without a request does not delay closing the metrics port', async () => {
  const metrics = { contentType: 'text/plain', text: async () => '' };
  const server = await startMetricsServer(metrics, { host: '127.0.0.1', port: 0, token: undefined, log: silentLog });
  const accepted = once(server.server, 'connection');
  const silent = connect((server.server.address() as AddressInfo).port, '127.0.0.1');
  await accepted;
  const closed = once(silent, 'close');
  await server.close();
  await closed;
});
