import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { changeVerdicts } from '../../src/core/leaderboards/change-verdicts.ts';
import { finalizeDue } from '../../src/core/leaderboards/finalize.ts';
import { systemRuntime } from '../../src/core/runtime.ts';
import { launch, rulesAt, vote } from '../support/launch-site.ts';
import { startTestSite, type TestSite } from '../support/test-site.ts';

const SCRIPT = join(import.meta.dirname, '../../examples/recount/recount.mjs');
const DAY = '2026-06-01';
const OTHER_DAY = '2026-06-02';

let site: TestSite;
/** The time of the last launch, whose launch window is open. */
const launchedAt = new Date();
const today = launchedAt.toISOString().slice(0, 10);
let proxy: Server;
let address: string;
/** Modifies the body of a response, depending on the path. */
let tamper: (path: string, body: string) => string = (_path, body) => body;
/** Called before a response is sent. If it returns `false`, the request is refused, as by a rate limit. */
let onRequest: (path: string) => Promise<unknown> = async () => {};

beforeAll(async () => {
  site = await startTestSite();
  for (const id of ['tide', 'reef', 'ebb']) await launch(site.database, id, `${DAY}T10:00:00.000Z`);
  await launch(site.database, 'flow', `${OTHER_DAY}T10:00:00.000Z`);
  for (const session of ['session-1', 'session-2', 'session-3'])
    await vote(site.database, 'tide', `${DAY}T11:00:00.000Z`, session);
  await vote(site.database, 'reef', `${DAY}T11:00:00.000Z`, 'session-1');
  await vote(site.database, 'ebb', `${DAY}T12:00:00.000Z`, 'session-2');
  await vote(site.database, 'flow', `${OTHER_DAY}T12:00:00.000Z`, 'session-2');
  await finalizeDue(site.database, { rules: rulesAt('2026-06-04T00:00:00.000Z'), votesPerNetwork: 20 });
  await site.addProduct({ id: 'today', createdAt: launchedAt.toISOString() });
  const origin = await site.app.listen({ host: '127.0.0.1', port: 0 });
  // Never ends idle connections, because a script that was suspended could send its next request on an ended one.
  proxy = createServer({ keepAliveTimeout: 0 }, async (request, response) => {
    if ((await onRequest(request.url ?? '')) === false) {
      response.writeHead(429, { 'retry-after': '1' }).end();
      return;
    }
    const upstream = await fetch(`${origin}${request.url}`);
    response.writeHead(upstream.status, { 'content-type': upstream.headers.get('content-type') ?? '' });
    response.end(tamper(request.url ?? '', await upstream.text()));
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  address = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
});
afterAll(async () => {
  proxy.close();
  await site.close();
});

/** Code that runs before the script, replaces its pauses with a turn of the event loop, and prints them to stderr. */
const WITHOUT_PAUSES = `data:text/javascript,${encodeURIComponent(`
  import { writeSync } from 'node:fs';
  import { syncBuiltinESMExports } from 'node:module';
  import timers from 'node:timers/promises';
  timers.setTimeout = (ms) => {
    writeSync(2, 'Pause: ' + ms + '\\n');
    return timers.setImmediate();
  };
  syncBuiltinESMExports();
`)}`;

const PAUSE = /^Pause: (.*)\n/gm;

/** Runs the script. `pausesMs` contains the pauses that it requested, and `stderr` only its own lines. */
function recount(
  ...parameters: string[]
): Promise<{ code: number; stdout: string; stderr: string; pausesMs: number[] }> {
  return new Promise((resolve) => {
    execFile(process.execPath, ['--import', WITHOUT_PAUSES, SCRIPT, address, ...parameters], (error, stdout, stderr) =>
      resolve({
        code: error === null ? 0 : Number(error.code),
        stdout,
        stderr: stderr.replace(PAUSE, ''),
        pausesMs: [...stderr.matchAll(PAUSE)].map(([, ms]) => Number(ms)),
      }),
    );
  });
}

test('the script has at most 120 lines, so it can be read before it is trusted', async () => {
  expect((await readFile(SCRIPT, 'utf8')).split('\n').length - 1).toBeLessThanOrEqual(120);
});

test('the script recomputes every day of a site and finds no difference', async () => {
  await expect.poll(async () => (await site.app.inject('/api/leaderboards')).body).toContain(`"period":"${today}"`);
  const { code, stdout, stderr } = await recount();
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toContain(`${DAY}: launches: 3, counted votes: 5, final: everything agrees`);
  expect(stdout).toContain(`${OTHER_DAY}: launches: 1, counted votes: 1,`);
  expect(stdout).toContain('launches: 1, counted votes: 0, open: everything agrees');
});

test('the script agrees with the digest of a final day without launches, which is the ETag of its tally', async () => {
  const empty = '2026-06-05';
  const { digest } = (await site.app.inject(`/api/leaderboards/${empty}`)).json();
  const { headers } = await site.app.inject(`/api/leaderboards/${empty}/tally`);
  expect(headers.etag).toBe(`"${digest.replace(':', '-')}"`);
  const { code, stdout, stderr } = await recount(empty);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toContain(`${empty}: launches: 0, counted votes: 0, final: everything agrees`);
});

const isTally = (path: string) => path.endsWith('/tally');
const change = (
  path: string,
  body: string,
  edit: (board: { digest: string; items: Record<string, unknown>[] }) => void,
) => {
  if (isTally(path)) return body;
  const board = JSON.parse(body);
  edit(board);
  return JSON.stringify(board);
};
const firstVote = /^\{"product".*\n/m;

test.each<[what: string, change: typeof tamper, difference: RegExp]>([
  [
    'a changed vote',
    (path, body) =>
      isTally(path) ? body.replace('"counted":true,"reason":null', '"counted":false,"reason":"operator"') : body,
    /^Difference: 2026-06-01: digest: recounted/,
  ],
  [
    'another voter',
    (path, body) => (isTally(path) ? body.replace(/"voter":"./, '"voter":"x') : body),
    /^Difference: 2026-06-01(: digest: recounted|, .*: out of order)/,
  ],
  [
    'a vote left out',
    (path, body) => (isTally(path) ? body.replace(firstVote, '') : body),
    /^Difference: 2026-06-01: digest: recounted/,
  ],
  [
    'a vote listed twice',
    (path, body) => (isTally(path) ? body.replace(firstVote, '$&$&') : body),
    /^Difference: 2026-06-01, ebb, vote of .*: this voter is listed twice/,
  ],
  [
    'a vote at the end of the window',
    (path, body) => (isTally(path) ? body.replace(`${DAY}T12:00:00Z`, `${OTHER_DAY}T10:00:00Z`) : body),
    /^Difference: 2026-06-01, ebb, vote of .*: outside the launch window/,
  ],
  [
    'a vote before the window',
    (path, body) => (isTally(path) ? body.replace(`${DAY}T12:00:00Z`, `${DAY}T09:59:59Z`) : body),
    /^Difference: 2026-06-01, ebb, vote of .*: outside the launch window/,
  ],
  [
    'a vote for a product of another day',
    (path, body) => (isTally(path) ? body.replace('"product":"ebb"', '"product":"flow"') : body),
    /^Difference: 2026-06-01, flow, vote of .*: the product did not launch on this day/,
  ],
  [
    'another launch time',
    (path, body) => (isTally(path) ? body.replace(`"launchedAt":"${DAY}T10`, `"launchedAt":"${DAY}T09`) : body),
    /^Difference: 2026-06-01: digest: recounted/,
  ],
  [
    'an end without a line break',
    (path, body) => (isTally(path) ? body.trimEnd() : body),
    /^Difference: 2026-06-01: text after the last line/,
  ],
  [
    'a product missing on the leaderboard',
    (path, body) => change(path, body, ({ items }) => items.pop()),
    /^Difference: 2026-06-01: launches: recounted 3, the site shows 2/,
  ],
  [
    'another rank',
    (path, body) => change(path, body, ({ items }) => Object.assign(items[0] ?? {}, { rank: 2 })),
    /^Difference: 2026-06-01, tide: rank: recounted 1, the site shows 2/,
  ],
  [
    'another order of a tie',
    (path, body) => change(path, body, ({ items }) => items.push(...items.splice(1, 1))),
    /^Difference: 2026-06-01: product in place 2: recounted/,
  ],
  [
    'another digest',
    (path, body) => change(path, body, (board) => Object.assign(board, { digest: `sha256:${'0'.repeat(64)}` })),
    /^Difference: 2026-06-01: digest: recounted/,
  ],
])('the script names the first difference and exits 1: %s', async (_what, edit, difference) => {
  tamper = edit;
  const { code, stderr } = await recount(DAY);
  tamper = (_path, body) => body;
  expect(stderr).toMatch(difference);
  expect(code).toBe(1);
});

test.each(['000', '001', '999'])(
  'the script accepts votes in the first and the last millisecond of a window that begins at 10:00:00.%s',
  async (milliseconds) => {
    const [day, start] = ['2026-06-07', `10:00:00.${milliseconds}Z`];
    const [id, end] = [`edge-${milliseconds}`, `2026-06-08T${start}`];
    await launch(site.database, id, `${day}T${start}`);
    await vote(site.database, id, `${day}T${start}`, 'session-first');
    await vote(site.database, id, new Date(Date.parse(end) - 1).toISOString(), 'session-last');
    await vote(site.database, id, end, 'session-after');
    const stdout = expect.stringMatching(new RegExp(`${id}' *│ 2 `));
    expect(await recount(day)).toMatchObject({ stderr: '', stdout });
  },
);

test('a vote between the requests for the tally and the leaderboard of an open day is not reported as a difference', async () => {
  let isVoted = false;
  onRequest = async (path) => {
    if (isTally(path) || isVoted) return;
    isVoted = true;
    await vote(site.database, 'today', new Date().toISOString(), 'session-between');
  };
  const { code, stdout, stderr } = await recount(today);
  onRequest = async () => {};
  expect({ code, stderr, isVoted }).toEqual({ code: 0, stderr: '', isVoted: true });
  expect(stdout).toContain('counted votes: 1, open: everything agrees');
});

test('a day that becomes final or is revised between the requests for its tally and its leaderboard is not reported as a difference', async () => {
  const [revised, finalized] = ['2026-06-10', '2026-06-20'];
  const finalize = (now: string) => finalizeDue(site.database, { rules: rulesAt(now), votesPerNetwork: 20 });
  for (const day of [finalized, revised]) {
    await launch(site.database, `of-${day}`, `${day}T10:00:00.000Z`);
    await vote(site.database, `of-${day}`, `${day}T11:00:00.000Z`, 'session-1');
  }
  await finalize('2026-06-15T00:00:00.000Z');
  const between = new Map<string, () => Promise<unknown>>([
    [finalized, () => finalize('2026-06-25T00:00:00.000Z')],
    [
      revised,
      () =>
        changeVerdicts(
          site.database,
          { productId: `of-${revised}`, action: 'exclude', reason: 'bought', selection: {} },
          systemRuntime,
          undefined,
        ),
    ],
  ]);
  onRequest = async (path) => {
    const day = isTally(path) ? '' : path.replace(/.*\/|\?.*/g, '');
    const act = between.get(day);
    between.delete(day);
    await act?.();
  };
  const runs = await Promise.all([recount(finalized), recount(revised)]);
  onRequest = async () => {};
  expect(between.size).toBe(0);
  expect(runs).toMatchObject([
    { code: 0, stderr: '', stdout: expect.stringContaining('counted votes: 1, final: everything agrees') },
    { code: 0, stderr: '', stdout: expect.stringContaining('counted votes: 0, final: everything agrees') },
  ]);
});

test('a difference on an open day is reported if it persists', async () => {
  tamper = (path, body) => change(path, body, ({ items }) => Object.assign(items[0] ?? {}, { votes: 99 }));
  const { code, stderr } = await recount(today);
  tamper = (_path, body) => body;
  expect(stderr).toMatch(/^Difference: .*, today: votes: recounted \d+, the site shows 99/);
  expect(code).toBe(1);
});

test('the script exits 2 if the result of an open day is different in each attempt', async () => {
  let requests = 0;
  tamper = (path, body) =>
    change(path, body, ({ items }) => {
      requests += 1;
      Object.assign(items[0] ?? {}, { votes: 99 + requests });
    });
  const { code, stderr } = await recount(today);
  tamper = (_path, body) => body;
  expect({ code, stderr, requests }).toEqual({
    code: 2,
    stderr: `Could not check: ${today} changed during each of 12 attempts. Try again later.\n`,
    requests: 12,
  });
});

test('the script waits for the time in Retry-After if the site limits its requests', async () => {
  const refused = new Set<string>();
  onRequest = async (path) => {
    if (refused.size === 2 || refused.has(path)) return;
    refused.add(path);
    return false;
  };
  const { code, stderr, pausesMs } = await recount(DAY);
  onRequest = async () => {};
  expect({ code, stderr, pausesMs }).toEqual({ code: 0, stderr: '', pausesMs: [1_000, 1_000] });
});

test('the script exits 2 without reporting a difference if it cannot read the site', async () => {
  expect(await recount('1999-12-31')).toMatchObject({ code: 2, stderr: expect.stringContaining('responded 404') });
});
