import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, beforeAll, expect, test } from 'vitest';
import { CommandHarness, databasePids } from '../support/command.ts';
import { openEvents } from '../support/event-client.ts';
import { sendHalfComment } from '../support/half-sent-comment.ts';
import { installCommand } from '../support/installed-command.ts';

const harness = new CommandHarness();
beforeAll(installCommand);
afterEach(() => harness.clear());

test('after SIGTERM, the site completes requests in flight, does not wait for idle clients, and stops its database', async () => {
  const dataDir = await harness.sampleDataDir();
  const site = await harness.serve({ DATA_DIR: dataDir, LOG_LEVEL: 'warn' });
  const comment = await sendHalfComment(site.address);
  const page = await openEvents(`${site.address}/api/events`);
  const { hostname, port } = new URL(site.address);
  const deaf = connect(Number(port), hostname);
  deaf.write('GET /api/events HTTP/1.1\r\nHost: site\r\n\r\n');
  await once(deaf, 'data');
  deaf.pause();
  site.process.kill('SIGTERM');
  await expect.poll(() => fetch(`${site.address}/healthz`).catch(() => 'refused')).toBe('refused');
  comment.sendRest();
  // The clients leave their connections open. If the site waited for them, the stop would time out with exit code 1.
  expect(await site.exited).toMatchObject({ code: 0 });
  expect(comment.received()).toMatch(/^HTTP\/1\.1 201 /m);
  expect(comment.received().toLowerCase()).toContain('\r\nconnection: close\r\n');
  expect(await databasePids(dataDir)).toEqual([]);
  // The open stream gets a reconnection delay before it ends.
  await page.closed;
  expect(page.response.complete).toBe(true);
  expect(page.text()).toMatch(/\nretry: \d+\n\n$/);
  for (const each of [comment.socket, deaf]) each.destroy();
});
