import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { CONSOLE_API, OPERATOR_HEADER, UNATTENDED_HEADER } from '../../src/contract/console/paths.ts';
import { inviteOperator, revokeOperator } from '../../src/core/console/operators.ts';
import { openEvents } from '../support/event-client.ts';
import { createLogLines } from '../support/log-lines.ts';
import { addPassphrase, PASSPHRASE, signInOperator } from '../support/operator.ts';
import { createTestClock } from '../support/test-clock.ts';
import { startTestSite, type TestSite } from '../support/test-site.ts';

const { log, text: logText } = createLogLines();
const OWN = { 'sec-fetch-site': 'same-origin' };

let clock: ReturnType<typeof createTestClock>;
let site: TestSite;

beforeEach(async () => {
  clock = createTestClock();
  site = await startTestSite({ runtime: clock, log });
});
afterEach(() => site.close());

/** Advances the clock so the site checks again whether the console is enabled. */
const passOpenCheck = () => clock.advance({ milliseconds: 1_000 });

interface Guess {
  name?: string;
  passphrase?: string;
  from?: string;
  cookie?: string;
}

const signIn = ({ name = 'ada', passphrase = PASSPHRASE, from = '192.0.2.1', cookie }: Guess = {}) =>
  site.app.inject({
    method: 'POST',
    url: '/api/console/sign-in',
    remoteAddress: from,
    headers: { ...OWN, ...(cookie && { cookie }) },
    payload: { name, passphrase },
  });

describe('Before the first invitation of an operator', () => {
  const unchanging = ({ statusCode, headers, body }: Awaited<ReturnType<typeof site.ask.get>>) => {
    const { date: _date, 'x-request-id': _id, ...rest } = headers;
    return { statusCode, headers: rest, body: body.replace(/"renderedAt":\d+/, '') };
  };

  test.each(['GET', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'HEAD'] as const)(
    '%s for the console gets the same response as for an unknown URL',
    async (method) => {
      for (const [url, unknown] of [
        ['/console', '/unknown'],
        ['/console/queue', '/unknown/queue'],
        ['/api/console/session', '/api/unknown/session'],
        ['/api/console/sign-in', '/api/unknown/sign-in'],
      ] as const) {
        const headers = { origin: 'https://elsewhere.example', 'access-control-request-method': 'GET' };
        const asked = await site.app.inject({ method, url, headers });
        expect(asked.statusCode).toBe(404);
        expect(unchanging(asked), url).toEqual(unchanging(await site.app.inject({ method, url: unknown, headers })));
      }
    },
  );

  test('the first invitation enables the console and its revocation disables it, each after at most a second', async () => {
    expect((await site.ask.get('/console')).statusCode).toBe(404);
    await inviteOperator(site.database, 'ada', clock.now());
    expect((await site.ask.get('/console')).statusCode).toBe(404);
    passOpenCheck();
    expect((await site.ask.get('/console')).statusCode).toBe(200);
    await revokeOperator(site.database, 'ada');
    passOpenCheck();
    expect((await site.ask.get('/console')).statusCode).toBe(404);
  });
});

describe('Responses of the console', () => {
  test('cannot be cached, framed, indexed or read by other origins, and run no inline scripts', async () => {
    const operator = await signInOperator(site, { now: clock.now() });
    for (const response of [
      await site.ask.get('/console'),
      await operator.ask('GET', '/session'),
      await site.ask.get('/api/console/session'),
    ]) {
      expect(response.headers).toMatchObject({
        'cache-control': 'no-store',
        'x-robots-tag': 'noindex, nofollow',
        'x-frame-options': 'DENY',
        'x-content-type-options': 'nosniff',
        'content-security-policy': expect.stringMatching(
          /^default-src 'none'; script-src 'self'; .*frame-ancestors 'none'$/,
        ),
      });
      expect(Object.keys(response.headers)).not.toContain('access-control-allow-origin');
    }
    const { 'content-security-policy': policy } = (await site.ask.get('/console')).headers;
    expect(policy).not.toMatch(/unsafe|sha256/);
  });

  test('return 404 for an unknown URL of the console', async () => {
    const operator = await signInOperator(site, { now: clock.now() });
    expect((await operator.ask('GET', '/nothing')).json()).toMatchObject({ status: 404, code: 'not_found' });
    expect((await site.ask.get('/console/nothing')).statusCode).toBe(404);
    for (const outside of ['', '../../package.json', '..%2f..%2fpackage.json', '%2e%2e/%2e%2e/package.json', '%00'])
      expect((await site.ask.get(`/console/assets/${outside}`)).statusCode, outside).toBe(404);
  });
});

describe('An invitation', () => {
  test('is accepted with a passphrase, signs the operator in, and ends the browser’s previous session', async () => {
    const previous = await signInOperator(site, { name: 'grace', now: clock.now() });
    const { token } = await inviteOperator(site.database, 'ada', clock.now());
    const post = (url: string, payload: object) => site.ask.post(url, payload, { ...OWN, cookie: previous.cookie });
    expect((await post('/api/console/invitation', { token })).json()).toEqual({ operator: 'ada' });
    const short = await post('/api/console/invitation/accept', { token, passphrase: 'short' });
    expect(short.json()).toMatchObject({ status: 422, code: 'passphrase_too_short' });
    const accepted = await post('/api/console/invitation/accept', { token, passphrase: PASSPHRASE });
    expect(accepted.json()).toEqual({ operator: 'ada', siteName: 'Groundswell' });
    expect(accepted.headers['set-cookie']).toEqual([
      expect.stringMatching(/^console_session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/),
      expect.stringMatching(/^console_device=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=31536000$/),
    ]);
    expect((await previous.ask('GET', '/session')).statusCode).toBe(401);
    expect((await post('/api/console/invitation', { token })).json()).toMatchObject({ status: 410 });
    expect(logText()).not.toContain(token);
    expect(logText()).not.toContain(PASSPHRASE);
  });
});

describe('A session', () => {
  test('is required to use the API, and ends when the operator signs out of it or of all sessions', async () => {
    const operator = await signInOperator(site, { now: clock.now() });
    expect((await operator.ask('GET', '/session')).json()).toEqual({ operator: 'ada', siteName: 'Groundswell' });
    for (const cookie of ['', 'console_session=', `console_session=${'A'.repeat(43)}`])
      expect((await operator.ask('GET', '/session', undefined, { cookie })).json()).toMatchObject({
        status: 401,
        code: 'not_signed_in',
      });
    const other = (await signIn()).cookies.find(({ name }) => name === 'console_session')?.value;
    const out = await operator.ask('POST', '/sign-out');
    expect(out.headers['set-cookie']).toMatch(/^console_session=; .*Max-Age=0$/);
    expect((await operator.ask('GET', '/session')).statusCode).toBe(401);
    const elsewhere = { cookie: `console_session=${other}` };
    expect((await operator.ask('GET', '/session', undefined, elsewhere)).statusCode).toBe(200);
    expect((await operator.ask('POST', '/sign-out-everywhere', undefined, elsewhere)).statusCode).toBe(204);
    expect((await operator.ask('GET', '/session', undefined, elsewhere)).statusCode).toBe(401);
  });

  test('is refused if the page shows another operator than the one who is signed in', async () => {
    const operator = await signInOperator(site, { now: clock.now() });
    const { id } = await site.addProduct();
    const remove = (shown: string) =>
      operator.ask('POST', '/products/remove', { ids: [id] }, { [OPERATOR_HEADER]: shown });
    expect((await remove('grace')).json()).toMatchObject({ status: 401, code: 'not_signed_in' });
    expect((await remove('ada')).json()).toMatchObject({ removed: [{ id }] });
  });

  test('ends after 12 hours if only pages without user input have used it in that time', async () => {
    const operator = await signInOperator(site, { now: clock.now() });
    const address = await site.app.listen({ port: 0, host: '127.0.0.1' });
    for (const hours of [6, 5]) {
      clock.advance({ hours });
      const stream = await openEvents(`${address}${CONSOLE_API.events}`, { ...OWN, cookie: operator.cookie });
      await stream.waitForEvent('ready', {});
      await stream.close();
      const unattended = await operator.ask('GET', '/waiting', undefined, { [UNATTENDED_HEADER]: '1' });
      expect(unattended.statusCode).toBe(200);
    }
    clock.advance({ hours: 1 });
    expect((await operator.ask('GET', '/session')).statusCode).toBe(401);
  });

  test.each([
    ['another site', { 'sec-fetch-site': 'cross-site' }],
    ['another host of the domain', { 'sec-fetch-site': 'same-site' }],
    ['an old browser on another site', { origin: 'https://elsewhere.example', host: 'groundswell.test' }],
    [
      'an origin longer than any host',
      { origin: `http://${'a'.repeat(300)}@groundswell.test`, host: 'groundswell.test' },
    ],
    ['a page with an opaque origin', { origin: 'null', host: 'groundswell.test' }],
    ['a program that sends no origin', {}],
  ])('is refused for a change if the request comes from %s', async (_name, headers) => {
    const { cookie } = await signInOperator(site, { now: clock.now() });
    const response = await site.ask.post('/api/console/sign-out-everywhere', undefined, { cookie, ...headers });
    expect(response.json()).toMatchObject({ status: 403, code: 'cross_origin' });
  });

  test('is accepted without Sec-Fetch-Site if Origin matches, and refused for cross-site requests, even for reads', async () => {
    const { cookie } = await signInOperator(site, { now: clock.now() });
    const own = { cookie, origin: 'http://groundswell.test', host: 'groundswell.test' };
    expect((await site.ask.post('/api/console/sign-out', undefined, own)).statusCode).toBe(204);
    const foreign = { cookie, 'sec-fetch-site': 'cross-site' };
    expect((await site.ask.get('/api/console/session', foreign)).json()).toMatchObject({ code: 'cross_origin' });
  });
});

describe('Guessing passphrases', () => {
  const wrong = (guess: Guess = {}) => signIn({ passphrase: 'wrong passphrase', ...guess });

  test('gets the same response for an unknown name and a wrong passphrase, and neither is logged', async () => {
    await signInOperator(site, { now: clock.now() });
    const [unknown, known] = [await wrong({ name: 'nobody' }), await wrong()];
    expect(unknown.json()).toMatchObject({ status: 401, code: 'sign_in_failed' });
    expect(unknown.json()).toEqual(known.json());
    expect(Object.keys(unknown.headers).sort()).toEqual(Object.keys(known.headers).sort());
    expect(logText()).toContain('A sign-in to the console failed');
    expect(logText()).not.toMatch(/wrong passphrase|nobody/);
  });

  test('is limited to ten failures in ten minutes per network, regardless of the names', async () => {
    await signInOperator(site, { now: clock.now() });
    for (let index = 0; index < 3; index += 1) expect((await signIn()).statusCode).toBe(200);
    // Adds operators, because their test hashes are quick to check. An unknown name, such as `name-0`, takes as long as
    // a real hash.
    for (let index = 1; index < 10; index += 1) await addPassphrase(site.database, `name-${index}`, clock.now());
    for (let index = 0; index < 10; index += 1)
      expect((await wrong({ name: `name-${index}`, from: `192.0.2.${index}` })).statusCode).toBe(401);
    const refused = await signIn();
    expect(refused.json()).toMatchObject({ status: 429, code: 'rate_limited' });
    expect(refused.headers['retry-after']).toBe('60');
    expect((await signIn({ from: '198.51.100.1' })).statusCode).toBe(200);
    clock.advance({ milliseconds: 60_000 });
    expect((await signIn()).statusCode).toBe(200);
  });

  test('does not prevent signing in from a known browser, even once its network has reached the limit', async () => {
    const { cookie } = await signInOperator(site, { now: clock.now() });
    for (let index = 0; index < 10; index += 1) await wrong();
    expect((await signIn()).statusCode).toBe(429);
    expect((await signIn({ cookie: `console_device=${'A'.repeat(43)}` })).statusCode).toBe(429);
    expect((await signIn({ cookie })).statusCode).toBe(200);
  });
});
