import { randomUUID } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, expect, onTestFinished, test } from 'vitest';
import type { LiveSubject, WaitingRecord } from '../../src/contract/console/records.ts';
import { revokeOperator } from '../../src/core/console/operators.ts';
import { systemRuntime } from '../../src/core/runtime.ts';
import { saveUpvoteBursts } from '../../src/core/stats/upvote-bursts.ts';
import { createSubmission } from '../../src/core/submissions/create-submission.ts';
import { type EventClient, openEvents } from '../support/event-client.ts';
import { addOperator, type TestOperator } from '../support/operator.ts';
import { startTestSite, type TestSite } from '../support/test-site.ts';

/** Two sites on one database, which act like two processes of one site. */
let site: TestSite;
let other: TestSite;
let ada: TestOperator;
let streams: EventClient[];

beforeAll(async () => {
  site = await startTestSite();
  other = await startTestSite({ databaseOf: site });
  ada = await addOperator(site);
  for (const each of [site, other]) await each.app.listen({ port: 0, host: '127.0.0.1' });
});
afterEach(() => streams.forEach((stream) => void stream.close()));
afterAll(async () => {
  await other.close();
  await site.close();
});

async function watch(processes = [site, other]): Promise<EventClient[]> {
  const open = ({ app }: TestSite) =>
    openEvents(`http://127.0.0.1:${(app.server.address() as AddressInfo).port}/api/console/events`, {
      cookie: ada.cookie,
      'sec-fetch-site': 'same-origin',
    });
  streams = await Promise.all(processes.map(open));
  for (const stream of streams) await stream.waitForEvent('ready', {});
  return streams;
}

const expectToHear = (subject: LiveSubject) =>
  Promise.all(streams.map((stream) => stream.waitForEvent('change', expect.arrayContaining([subject]))));

test('the streams of every process report a submission and a burst, which are counted as waiting', async () => {
  await watch();
  const submitter = { session: `session-${randomUUID()}` };
  await createSubmission(site.database, systemRuntime, { name: 'Fresh wave' }, { submitter });
  await expectToHear('queue');
  await watch();
  const { id } = await other.addProduct();
  const hour = new Date(Math.floor(Date.now() / 3_600_000) * 3_600_000).toISOString();
  await saveUpvoteBursts(other.database, [{ hour, productId: id, network: 'one', sessions: 25 }]);
  await expectToHear('queue');
  expect(await ada.json<WaitingRecord>('GET', '/waiting')).toEqual({ submissions: 1, heldComments: 0, bursts: 1 });
});

test('the streams of every process report an action of an operator in one process', async () => {
  const { id } = await site.addProduct();
  await watch();
  await ada.json('POST', '/products/remove', { ids: [id] });
  await expectToHear('audit');
  await expectToHear('products');
});

test('the stream of an operator ends when access is revoked, and the streams of others remain open', async () => {
  await watch();
  const grace = await addOperator(site, 'grace');
  const { port } = site.app.server.address() as AddressInfo;
  const hers = await openEvents(`http://127.0.0.1:${port}/api/console/events`, {
    cookie: grace.cookie,
    'sec-fetch-site': 'same-origin',
  });
  await hers.waitForEvent('ready', {});
  await revokeOperator(site.database, 'grace');
  await hers.closed;
  const { id } = await site.addProduct();
  await ada.json('POST', '/products/remove', { ids: [id] });
  await expectToHear('products');
});

test('a HEAD request for the stream gets 404, and opens no stream', async () => {
  expect((await ada.ask('HEAD', '/events')).statusCode).toBe(404);
});

test('an upvote is reported as a change of counts, not of the audit log', async () => {
  const { id } = await site.addProduct();
  // Processes that start now get no notifications about earlier tests.
  const late = await Promise.all([startTestSite({ databaseOf: site }), startTestSite({ databaseOf: site })]);
  for (const each of late) {
    onTestFinished(() => each.close());
    await each.app.listen({ port: 0, host: '127.0.0.1' });
  }
  await watch(late);
  const before = streams.map(({ frames }) => frames.length);
  // Repeats the upvote, because a process that places a launch at the same time reports both as a change of products.
  const upvote = () => late[0].core.setUpvote({ productId: id, session: `session-${randomUUID()}`, upvoted: true });
  for (const [index, { frames }] of streams.entries()) {
    const since = () => frames.slice(before[index]).flatMap(({ data }) => data as LiveSubject[]);
    await expect.poll(() => upvote().then(since), { interval: 500 }).toContain('counts');
    expect(since()).not.toContain('audit');
  }
});
