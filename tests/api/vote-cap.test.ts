import { afterAll, beforeAll, expect, test } from 'vitest';
import { changeVerdicts, undoVerdicts } from '../../src/core/leaderboards/change-verdicts.ts';
import { systemRuntime } from '../../src/core/runtime.ts';
import { readTrustedProxies } from '../../src/settings/trusted-proxies.ts';
import { isCitus } from '../support/is-citus.ts';
import { newVisitor } from '../support/requests.ts';
import { startTestSite, type TestSite } from '../support/test-site.ts';

const PROXY = '10.0.0.1';
/** The default of VOTES_PER_NETWORK. */
const CAP = 20;

let site: TestSite;
let other: TestSite;
beforeAll(async () => {
  site = await startTestSite({ trustProxy: readTrustedProxies(PROXY) });
  other = await startTestSite({ trustProxy: readTrustedProxies(PROXY), databaseOf: site });
});
afterAll(async () => {
  await other.close();
  await site.close();
});

const launch = (id: string) => site.addProduct({ id, createdAt: new Date(Date.now() - 60_000).toISOString() });

function vote(
  id: string,
  {
    from = PROXY,
    forwardedFor,
    visitor = newVisitor(),
    method = 'PUT',
    at = site,
  }: {
    from?: string;
    forwardedFor?: string;
    visitor?: { 'x-user-session': string };
    method?: 'PUT' | 'DELETE';
    at?: TestSite;
  },
) {
  return at.app.inject({
    method,
    url: `/api/products/${id}/upvote`,
    remoteAddress: from,
    headers: { ...visitor, ...(forwardedFor && { 'x-forwarded-for': forwardedFor }) },
  });
}

async function counted(id: string): Promise<unknown> {
  const [counts] = await site.database.query(
    `SELECT upvotes, counted, excluded_network AS excluded FROM product_counts WHERE product_id = '${id}'`,
  );
  return counts;
}

/** On Citus, votes beyond the cap count until the cap is applied shortly afterwards. */
async function expectCounted(id: string, expected: object): Promise<void> {
  if (isCitus) await expect.poll(() => counted(id)).toEqual(expected);
  expect(await counted(id)).toEqual(expected);
}

const numbers = Array.from({ length: CAP + 10 }, (_, index) => index + 1);

test.each<[string, (n: number) => Parameters<typeof vote>[1]]>([
  ['an address that forges X-Forwarded-For', (n) => ({ from: '192.0.2.1', forwardedFor: `198.51.100.${n}` })],
  ['an address that forges entries before that of its proxy', (n) => ({ forwardedFor: `198.51.100.${n}, 192.0.2.2` })],
  ['an IPv4 address, sometimes as IPv6', (n) => ({ forwardedFor: n % 2 ? '192.0.2.3' : '::ffff:192.0.2.3' })],
  ['an IPv6 /64', (n) => ({ forwardedFor: `2001:db8:0:1::${n.toString(16)}` })],
  ['entries that are not addresses', (n) => ({ forwardedFor: `unknown-${n}` })],
  ['an address at two processes', (n) => ({ forwardedFor: '192.0.2.4', at: n % 2 ? site : other })],
])('%s: only the votes up to the cap count on leaderboards, the others only as upvotes', async (what, from) => {
  const id = what
    .replace(/[^a-z]+/gi, '-')
    .toLowerCase()
    .slice(0, 60);
  await launch(id);
  for (const n of numbers) expect((await vote(id, from(n))).statusCode).toBe(200);
  await expectCounted(id, { upvotes: CAP + 10, counted: CAP, excluded: 10 });
});

test('withdrawn votes make room for other visitors of the network', async () => {
  await launch('griefed');
  const griefers = numbers.slice(0, CAP).map(() => newVisitor());
  const from = '192.0.2.6';
  for (const visitor of griefers) await vote('griefed', { forwardedFor: from, visitor });
  for (let honest = 1; honest <= 5; honest += 1) await vote('griefed', { forwardedFor: from, at: other });
  await expectCounted('griefed', { upvotes: CAP + 5, counted: CAP, excluded: 5 });
  for (const visitor of griefers) await vote('griefed', { forwardedFor: from, visitor, method: 'DELETE' });
  await expect.poll(() => counted('griefed')).toEqual({ upvotes: 5, counted: 5, excluded: 0 });
});

test('simultaneous votes of one network in two processes exceed the cap only briefly', async () => {
  await launch('rushed');
  await Promise.all(numbers.map((n) => vote('rushed', { forwardedFor: '192.0.2.7', at: n % 2 ? site : other })));
  await expect.poll(() => counted('rushed')).toEqual({ upvotes: CAP + 10, counted: CAP, excluded: 10 });
});

test('withdrawing votes and casting them again does not evade the cap', async () => {
  await launch('toggled');
  const visitors = numbers.map(() => newVisitor());
  for (const method of ['PUT', 'DELETE', 'PUT'] as const) {
    for (const visitor of visitors) await vote('toggled', { forwardedFor: '192.0.2.5', visitor, method });
  }
  await expect.poll(() => counted('toggled')).toEqual({ upvotes: CAP + 10, counted: CAP, excluded: 10 });
});

test('withdrawing excluded votes and casting them again does not make them count', async () => {
  await launch('bought');
  const visitors = numbers.slice(0, CAP).map(() => newVisitor());
  const all = async (method: 'PUT' | 'DELETE') => {
    for (const [n, visitor] of visitors.entries()) await vote('bought', { visitor, method, at: n % 2 ? site : other });
  };
  const operator = async () =>
    (
      await site.database.query(
        "SELECT upvotes, counted, excluded_operator AS excluded FROM product_counts WHERE product_id = 'bought'",
      )
    )[0];
  await all('PUT');
  const wanted = { productId: 'bought', action: 'exclude', reason: 'bought', selection: {} } as const;
  await expect
    .poll(() => changeVerdicts(site.database, wanted, systemRuntime, undefined).catch(({ code }) => code))
    .toMatchObject({ votes: CAP });
  expect(await operator()).toEqual({ upvotes: CAP, counted: 0, excluded: CAP });
  await all('DELETE');
  expect(await operator()).toEqual({ upvotes: 0, counted: 0, excluded: 0 });
  await all('PUT');
  expect(await operator()).toEqual({ upvotes: CAP, counted: 0, excluded: CAP });
  await undoVerdicts(site.database, 'bought', systemRuntime);
  expect(await operator()).toEqual({ upvotes: CAP, counted: CAP, excluded: 0 });
});

test('votes that the operator includes count in the standing and in the tally until the inclusion is undone', async () => {
  const { createdAt } = await launch('workshop');
  for (const n of numbers) await vote('workshop', { forwardedFor: '192.0.2.8', at: n % 2 ? site : other });
  await expect.poll(() => counted('workshop')).toMatchObject({ counted: CAP, excluded: 10 });
  const day = createdAt.slice(0, 10);
  const tally = async () => {
    const lines = (await site.ask.get(`/api/leaderboards/${day}/tally`)).body.trimEnd().split('\n').slice(1);
    return lines.map((line) => JSON.parse(line)).filter(({ product }) => product === 'workshop');
  };
  await expect.poll(async () => (await tally()).length).toBe(CAP + 10);
  const voters = (await tally()).filter(({ counted: counts }) => !counts).map(({ voter }) => voter);
  const change = { productId: 'workshop', action: 'include', reason: 'a class', selection: { voters } } as const;
  expect(await changeVerdicts(site.database, change, systemRuntime, undefined)).toMatchObject({ votes: 10 });
  const standing = async () => (await other.ask.get('/api/products/workshop/standing')).json().day;
  await expect.poll(standing).toMatchObject({ votes: CAP + 10, excluded: [] });
  expect((await tally()).every(({ counted: counts }) => counts)).toBe(true);
  // Votes that the operator included remain included, and do not count towards the cap.
  await vote('workshop', { forwardedFor: '192.0.2.8' });
  await expect.poll(standing).toMatchObject({ votes: CAP + 10, excluded: [{ reason: 'network', votes: 1 }] });
  await undoVerdicts(site.database, 'workshop', systemRuntime);
  await expect.poll(standing).toMatchObject({ votes: CAP, excluded: [{ reason: 'network', votes: 11 }] });
});

test('votes beyond the cap that a killed process has not excluded are excluded at the next start', async () => {
  await launch('left');
  // Writes both in one statement, because the sites may check the cap at any time.
  await site.database.query(
    `WITH added AS (
       INSERT INTO upvotes (id, product_id, user_session, created_at, network)
       SELECT gen_random_uuid(), 'left', 'session-left-' || n, now(), '00000000-0000-0000-0000-00000000000a'
       FROM generate_series(1, $1::integer) AS n
     )
     UPDATE product_counts SET upvotes = $1, counted = $1 WHERE product_id = 'left'`,
    [CAP + 4],
  );
  const next = await startTestSite({ databaseOf: site });
  try {
    await expect.poll(() => counted('left')).toEqual({ upvotes: CAP + 4, counted: CAP, excluded: 4 });
    const standing = async () => (await next.ask.get('/api/products/left/standing')).json().day?.votes;
    await expect.poll(standing).toBe(CAP);
  } finally {
    await next.close();
  }
});
