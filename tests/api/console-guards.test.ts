import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { request } from 'node:http';
import { json } from 'node:stream/consumers';
import { brotliDecompressSync } from 'node:zlib';
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { inviteOperator } from '../../src/core/console/operators.ts';
import { consoleCookies } from '../../src/server/console/cookies.ts';
import { readConsoleBuild } from '../../src/server/console/mount-console.ts';
import { PACKAGE_FOLDERS } from '../../src/settings/package-root.ts';
import { instantPictures } from '../support/instant-pictures.ts';
import { PASSPHRASE, signInOperator, type TestOperator } from '../support/operator.ts';
import { startTestSite, type TestSite } from '../support/test-site.ts';

type Method = 'GET' | 'HEAD' | 'POST' | 'PATCH';
interface Route {
  method: Method;
  url: string;
  isOpenToAll: boolean;
}

const OWN = { 'sec-fetch-site': 'same-origin' };
/** A token with a valid format that no server generated. */
const PLANTED = 'P'.repeat(43);

let site: TestSite;
let ada: TestOperator;
/** The functions that take the slots of uploaded pictures. */
const reclaimSlots: (() => void)[] = [];
/** Every route of the console's API that the server registers. */
const routes: Route[] = [];

beforeAll(async () => {
  const onRoute = ({ method, url, config }: RouteOptions) => {
    if (!url.startsWith('/api/console')) return;
    for (const each of [method].flat())
      routes.push({ method: each as Method, url, isOpenToAll: config?.isOpenToAll === true });
  };
  const onServer = (message: unknown) => {
    (message as { fastify: FastifyInstance }).fastify.addHook('onRoute', onRoute);
  };
  subscribe('fastify.initialization', onServer);
  const pictures = instantPictures();
  const submittedPictures: typeof pictures = {
    ...pictures,
    admit(sender, onLost) {
      if (onLost) reclaimSlots.push(onLost);
      return pictures.admit(sender, onLost);
    },
  };
  site = await startTestSite({ submittedPictures });
  unsubscribe('fastify.initialization', onServer);
  ada = await signInOperator(site);
});
afterAll(() => site.close());

const send = ({ method, url }: Route, headers: Record<string, string>) =>
  site.app.inject({ method, url: url.replaceAll(/:\w+/g, 'git'), headers });

/**
 * The headers of the console's responses, which must not be cached, framed or indexed, and whose type must not be
 * guessed. The static files of the console differ only in caching.
 */
const GUARDED = {
  'cache-control': 'no-store',
  'x-frame-options': 'DENY',
  'x-content-type-options': 'nosniff',
  'x-robots-tag': 'noindex, nofollow',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'content-security-policy': expect.stringContaining("frame-ancestors 'none'"),
};

describe('Every route of the console’s API', () => {
  test('requires a session, except the routes for signing in and out', async () => {
    expect(routes.length).toBeGreaterThan(25);
    expect(routes.filter(({ isOpenToAll }) => isOpenToAll).map(({ method, url }) => `${method} ${url}`)).toEqual([
      'POST /api/console/sign-in',
      'POST /api/console/invitation',
      'POST /api/console/invitation/accept',
      'POST /api/console/sign-out',
    ]);
    for (const route of routes.filter(({ isOpenToAll }) => !isOpenToAll)) {
      for (const cookie of ['', `console_session=${PLANTED}`]) {
        const response = await send(route, { ...OWN, cookie });
        expect([route, response.statusCode]).toEqual([route, 401]);
        expect(response.headers, route.url).toMatchObject(GUARDED);
      }
    }
  });

  test('refuses requests from pages of other sites, even with the cookie of an operator', async () => {
    const foreign = [
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { 'sec-fetch-site': 'cross-site', origin: 'http://groundswell.test', host: 'groundswell.test' },
    ];
    for (const route of routes) {
      for (const headers of foreign) {
        const response = await send(route, { ...headers, cookie: ada.cookie });
        expect([route, response.statusCode]).toEqual([route, 403]);
        expect(response.headers, route.url).toMatchObject(GUARDED);
        expect(Object.keys(response.headers)).not.toContain('access-control-allow-origin');
      }
    }
    expect((await ada.ask('GET', '/session')).statusCode).toBe(200);
  });

  test('refuses the media types of forms if it reads a body, so a form on another page cannot reach it', async () => {
    const writing = routes.filter(({ method, url }) => method !== 'GET' && method !== 'HEAD' && !/sign-out/.test(url));
    for (const route of writing) {
      for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x']) {
        const response = await site.app.inject({
          ...{ method: route.method, url: route.url.replaceAll(/:\w+/g, 'image'), payload: 'a=b' },
          headers: { ...OWN, cookie: ada.cookie, 'content-type': type },
        });
        expect([route, type, response.statusCode]).toEqual([route, type, 415]);
      }
    }
  });
});

test('downloads, refused downloads and unknown URLs have the same security headers as all other responses', async () => {
  for (const [path, status] of [
    ['/export?table=products&kind=csv', 200],
    ['/export?table=products&kind=html', 400],
    ['/export?table=operator_sessions&kind=csv', 400],
    ['/backup', 200],
    ['/overview', 200],
    ['/nothing', 404],
    [`/products/${'x'.repeat(65)}`, 400],
  ] as const) {
    const response = await ada.ask('GET', path);
    expect([path, response.statusCode]).toEqual([path, status]);
    expect(response.headers, path).toMatchObject(GUARDED);
  }
});

test('an unknown URL is not found, whatever the method and the body', async () => {
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'] as const) {
    for (const type of ['application/json', 'application/x-www-form-urlencoded', 'image/png']) {
      const response = await ada.ask(method, '/nothing', Buffer.from('x=1'), { 'content-type': type });
      expect([method, type, response.statusCode]).toEqual([method, type, 404]);
      expect(response.json()).toMatchObject({ code: 'not_found' });
      expect(response.headers).toMatchObject(GUARDED);
    }
  }
});

test('lists are compressed for browsers, because operators also work on slow connections', async () => {
  for (let index = 0; index < 50; index += 1) await site.addProduct();
  const url = '/products?limit=50';
  const [plain, compressed] = [
    await ada.ask('GET', url),
    await ada.ask('GET', url, undefined, { 'accept-encoding': 'gzip, br' }),
  ];
  expect(compressed.headers).toMatchObject({ ...GUARDED, 'content-encoding': 'br', vary: 'Accept-Encoding' });
  expect(brotliDecompressSync(compressed.rawPayload).toString()).toBe(plain.body);
});

test('a picture whose upload is ended because it is too slow gets the same error as on the rest of the site', async () => {
  const upload = request(`${await site.app.listen({ port: 0, host: '127.0.0.1' })}/api/console/pictures/image`, {
    method: 'POST',
    headers: { ...OWN, cookie: ada.cookie, 'content-type': 'image/png', 'content-length': 10 },
  });
  upload.on('error', () => {});
  upload.write('x');
  await expect.poll(() => reclaimSlots.length).toBe(1);
  for (const reclaim of reclaimSlots) reclaim();
  const [response] = await once(upload, 'response');
  expect(response.headers).toMatchObject({
    'content-type': expect.stringMatching(/^application\/problem\+json/),
    'cache-control': 'no-store',
  });
  expect(await json(response)).toMatchObject({ status: 408, code: 'request_timeout' });
});

test('only the operator’s browser may cache the files of the console', async () => {
  const { script, styles } = await readConsoleBuild(PACKAGE_FOLDERS.console);
  for (const file of [script, ...styles]) {
    const { statusCode, headers } = await site.ask.get(file);
    expect([file, statusCode]).toEqual([file, 200]);
    expect(headers).toMatchObject({ ...GUARDED, 'cache-control': 'private, max-age=31536000, immutable' });
  }
  const missing = await site.ask.get('/console/assets/missing.js');
  expect([missing.statusCode, missing.headers]).toMatchObject([404, GUARDED]);
});

describe('A session id chosen by an attacker', () => {
  const sessionOf = (headers: { 'set-cookie'?: string | string[] | undefined }) =>
    [headers['set-cookie']]
      .flat()
      .find((each) => each?.startsWith('console_session='))
      ?.split(';')[0] ?? '';
  const signIn = (cookie: string) =>
    site.ask.post('/api/console/sign-in', { name: 'ada', passphrase: PASSPHRASE }, { ...OWN, cookie });
  const statusWith = async (cookie: string) => (await ada.ask('GET', '/session', undefined, { cookie })).statusCode;

  test('is not used after signing in, which always creates a new session', async () => {
    const planted = `console_session=${PLANTED}`;
    const own = sessionOf((await signIn(planted)).headers);
    expect(own).not.toBe(planted);
    expect([await statusWith(own), await statusWith(planted)]).toEqual([200, 401]);
    const again = sessionOf((await signIn(own)).headers);
    expect([await statusWith(again), await statusWith(own)]).toEqual([200, 401]);
  });

  test('ends when an invitation is accepted, which creates a new session', async () => {
    const attacker = await signInOperator(site, { name: 'mallory' });
    const { token } = await inviteOperator(site.database, 'grace', new Date());
    const accepted = await site.ask.post(
      '/api/console/invitation/accept',
      { token, passphrase: PASSPHRASE },
      { ...OWN, cookie: attacker.cookie },
    );
    const own = sessionOf(accepted.headers);
    const operatorOf = async (cookie: string) =>
      (await ada.ask('GET', '/session', undefined, { cookie })).json().operator;
    expect([await operatorOf(own), await operatorOf(attacker.cookie)]).toEqual(['grace', undefined]);
  });

  test('cannot be set for an https site over plain HTTP or by another host of the domain', () => {
    const cookies = consoleCookies(() => 'https://site.example');
    const sent: unknown[] = [];
    const reply = { header: (_name: string, value: unknown) => sent.push(value) } as unknown as FastifyReply;
    cookies.setSession(reply, PLANTED);
    cookies.setDevice(reply, PLANTED);
    cookies.clearSession(reply);
    expect(sent).toHaveLength(3);
    for (const cookie of sent)
      expect(cookie).toMatch(/^__Host-console_(?:session|device)=[^;]*; Path=\/; HttpOnly; SameSite=Strict; Secure/);
    const request = (cookie: string) => ({ headers: { cookie } }) as FastifyRequest;
    expect(cookies.sessionOf(request(`console_session=${PLANTED}`))).toBeUndefined();
    expect(cookies.sessionOf(request(`console_session=x; __Host-console_session=${PLANTED}`))).toBe(PLANTED);
  });
});
