import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { expect, test } from 'vitest';
import { silentLog } from '../../tests/support/silent-log.ts';
import { startMetricsServer } from './metrics/serve-metrics.ts';
import { StartError } from './start-error.ts';

const failure = (code?: string) => Object.assign(new Error('listen went wrong'), { code });

test.each([
  [
    'EADDRINUSE',
    'METRICS_PORT: another program already listens on 127.0.0.1:80. Stop that program, or set METRICS_PORT',
  ],
  [
    'EACCES',
    'METRICS_PORT: port 80 requires privileges that this user does not have. Set METRICS_PORT to 1024 or more.',
  ],
  ['EADDRNOTAVAIL', "HOST: '127.0.0.1' is not an address of this machine, or cannot be resolved."],
  ['ENOTFOUND', "HOST: '127.0.0.1' is not an address of this machine, or cannot be resolved."],
  ['EMFILE', 'The server cannot listen on 127.0.0.1:80: listen went wrong'],
  [undefined, 'The server cannot listen on 127.0.0.1:80: listen went wrong'],
])('the error of a server that cannot listen (%s) is one line with the reason', (code, message) => {
  const error = StartError.ofListening(failure(code), '127.0.0.1', 80, 'METRICS_PORT');
  expect(error.message.startsWith(message), error.message).toBe(true);
  expect(error.message).not.toContain('\n');
});

test('the error about a metrics port that is in use names the setting METRICS_PORT', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  const metrics = { contentType: 'text/plain', text: async () => '' };
  await expect(
    startMetricsServer(metrics, { host: '0.0.0.0', port, token: undefined, log: silentLog }),
  ).rejects.toThrow(`METRICS_PORT: another program already listens on 127.0.0.1:${port}`);
  other.close();
});
