import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { newSecret, startReceiver, verified, type WebhookReceiver } from '../../../tests/support/webhook-receiver.ts';
import { sendEvent } from './send-event.ts';

const [OLD, NEW, OTHER] = [newSecret(1), newSecret(2), newSecret(3)];
const EVENT = { type: 'webhook.test', timestamp: '2026-06-01T12:00:00.000Z', data: { name: 'Ebbe ☕' } };
const ID = '0f8fad5b-d9cb-469f-a165-70867728950e';

let receiver: WebhookReceiver;
beforeEach(async () => {
  receiver = await startReceiver();
});
afterEach(() => receiver.stop());

const send = ({ secrets = [OLD.key], timeoutMs = 60_000, authorization = undefined as string | undefined } = {}) =>
  sendEvent(
    { url: `${receiver.url}?key=1`, authorization, secrets },
    { id: ID, body: JSON.stringify(EVENT) },
    { now: new Date(), timeoutMs },
  );

describe('signed events', () => {
  test('the reference library verifies a signed event, and refuses it with another secret or another body', async () => {
    expect(await send()).toEqual({ outcome: 'delivered', status: 204 });
    const [request] = receiver.received;
    if (request === undefined) throw new Error('nothing was received');
    expect(request).toMatchObject({
      path: '/hook?key=1',
      headers: { 'content-type': 'application/json', 'webhook-id': ID },
    });
    expect(verified(request, OLD)).toEqual(EVENT);
    expect(() => verified(request, OTHER)).toThrow('No matching signature found');
    expect(() => verified({ ...request, body: `${request.body} ` }, OLD)).toThrow('No matching signature found');
  });

  test('during the rotation of a secret, a signed event can be verified with both the old and the new secret', async () => {
    await send({ secrets: [NEW.key, OLD.key] });
    const [request] = receiver.received;
    if (request === undefined) throw new Error('nothing was received');
    for (const secret of [OLD, NEW]) expect(verified(request, secret)).toEqual(EVENT);
  });

  test('an event is sent with the Authorization header of its receiver', async () => {
    await send({ authorization: 'Basic YWRhOnBAc3M=' });
    expect(receiver.received[0]?.headers.authorization).toBe('Basic YWRhOnBAc3M=');
  });
});

describe('attempts', () => {
  test.each([
    [200, { outcome: 'delivered', status: 200 }],
    [299, { outcome: 'delivered', status: 299 }],
    [400, { outcome: 'failed', failure: 'status 400' }],
    [503, { outcome: 'failed', failure: 'status 503' }],
    [410, { outcome: 'gone', failure: '410 Gone' }],
  ])('an attempt with the response status %i has the outcome %j', async (status, expected) => {
    receiver.respond = (response) => response.writeHead(status).end('{}');
    expect(await send()).toEqual(expected);
  });

  test('an attempt that is redirected fails, and the redirect is not followed', async () => {
    receiver.respond = (response) => response.writeHead(307, { location: `${receiver.url}/elsewhere` }).end();
    expect(await send()).toEqual({ outcome: 'failed', failure: 'status 307, and redirects are not followed' });
    expect(receiver.received).toHaveLength(1);
  });

  test('an attempt fails if the receiver does not respond in time', async () => {
    receiver.respond = () => {};
    expect(await send({ timeoutMs: 50 })).toEqual({ outcome: 'failed', failure: 'no response in 0.05 s' });
  });

  test('an attempt fails if the receiver is down, and the failure does not contain the URL', async () => {
    await receiver.stop();
    expect(await send()).toEqual({ outcome: 'failed', failure: 'ECONNREFUSED' });
  });

  test('an attempt to a port that `fetch` blocks, such as 6000 (X11), fails with that reason', async () => {
    const blocked = { url: 'http://127.0.0.1:6000/hook', secrets: [OLD.key] };
    expect(await sendEvent(blocked, { id: ID, body: '{}' }, { now: new Date() })).toEqual({
      outcome: 'failed',
      failure: 'Node.js refuses to connect to this port',
    });
  });
});

test('an endless response body is not read, and the connection is closed', async () => {
  let written = 0;
  const closed = new Promise<void>((resolve) => {
    receiver.respond = (response) => {
      response.writeHead(200);
      const chunk = Buffer.alloc(64 * 1024);
      const write = () => {
        while (response.write(chunk)) written += chunk.length;
        response.once('drain', write);
      };
      void once(response, 'close').then(() => resolve());
      write();
    };
  });
  expect(await send()).toEqual({ outcome: 'delivered', status: 200 });
  await closed;
  expect(written).toBeLessThan(16 * 1024 * 1024);
});
