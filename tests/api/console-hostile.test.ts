import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ConsolePage, SubmissionRecord } from '../../src/contract/console/records.ts';
import { systemRuntime } from '../../src/core/runtime.ts';
import { createSubmission } from '../../src/core/submissions/create-submission.ts';
import { createLogLines } from '../support/log-lines.ts';
import { addOperator, type TestOperator } from '../support/operator.ts';
import { startTestSite, type TestSite } from '../support/test-site.ts';

const { log, lines } = createLogLines();
let site: TestSite;
let ada: TestOperator;

beforeAll(async () => {
  site = await startTestSite({ log });
  ada = await addOperator(site);
  await site.addProduct({ id: 'git' });
});
afterAll(() => site.close());

const VALUES = [
  '',
  '\0',
  '\ud800',
  '\u202e',
  "' OR 1 = 1 --",
  '..',
  'a'.repeat(200),
  '漢'.repeat(100),
  // Has the length of a UUID, but no hexadecimal digits.
  '-'.repeat(36),
  '2026-13-45T99:99:99Z',
  '2026-02-30T00:00:00Z',
  '0000-01-01T00:00:00Z',
  '9999-12-31T23:59:59Z',
  '9999-12-31',
  '-1',
  '1e400',
  '[]',
];

const ADDRESSES: Record<string, readonly string[]> = {
  '/products': ['state', 'q', 'tag', 'category', 'sort', 'cursor', 'limit'],
  '/products?sort=name': ['cursor', 'q'],
  '/comments': ['state', 'text', 'product', 'cursor', 'limit'],
  '/audit': ['operator', 'action', 'target', 'from', 'to', 'cursor', 'limit'],
  '/submissions': ['cursor', 'limit'],
  '/products/git/votes': ['from', 'to'],
  '/export': ['table', 'kind', 'counts'],
};

const wellFormed = (text: string) => encodeURIComponent(text.toWellFormed());

/** Returns the log lines about errors of the site. Invalid requests are logged at a lower level. */
const loggedErrors = () => lines().filter(({ level }) => Number(level) >= 50);

test.each(Object.entries(ADDRESSES))(
  'hostile values for the parameters of %s cause no server error',
  async (path, names) => {
    for (const name of names) {
      for (const value of VALUES) {
        const url = `${path}${path.includes('?') ? '&' : '?'}${name}=${wellFormed(value)}`;
        const { statusCode } = await ada.ask('GET', url);
        expect(statusCode, url).toBeLessThan(500);
      }
    }
    expect(loggedErrors()).toEqual([]);
  },
);

test.each([
  ['sign-in', (value: string) => ['/sign-in', { name: value, passphrase: value }]],
  ['an invitation', (value: string) => ['/invitation', { token: value }]],
  ['the acceptance of an invitation', (value: string) => ['/invitation/accept', { token: value, passphrase: value }]],
  ['an undo', (value: string) => [`/audit/${wellFormed(value)}/undo`, {}]],
  ['a removal', (value: string) => ['/products/remove', { ids: ['git'], reason: value, nothing: [value] }]],
  ['a restore', (value: string) => ['/products/restore', { removalIds: [value] }]],
  ['hiding a comment', (value: string) => ['/comments/moderate', { action: 'hide', ids: [value], reason: value }]],
  ['excluding votes', (value: string) => ['/products/git/votes', { action: 'exclude', reason: 'A', voters: [value] }]],
  [
    'the reason for excluding votes',
    (value: string) => ['/products/git/votes', { action: 'exclude', reason: value, voters: ['0'.repeat(32)] }],
  ],
  ['a decision', (value: string) => ['/submissions/git/decide', { action: 'decline', revision: 1, reason: value }]],
] as [string, (value: string) => [string, object]][])(
  'hostile values for %s cause no server error',
  async (_name, request) => {
    for (const value of VALUES) {
      const [url, body] = request(value);
      const response = await ada.ask('POST', url, body);
      expect(response.statusCode, `${url} ${response.body}`).toBeLessThan(500);
    }
    expect(loggedErrors()).toEqual([]);
  },
);

test('a file with a hostile name is imported if its media type is right, and the audit log has its original name', async () => {
  const send = (name: string, headers = { 'content-type': 'application/octet-stream' }) =>
    ada.ask(
      'POST',
      `/import?kind=csv&name=${wellFormed(name)}`,
      Buffer.from(`name\nProduct of ${name.length} characters\n`),
      headers,
    );
  for (const name of ['..', '.', '../../etc/passwd', '漢'.repeat(100)]) {
    const response = await send(name);
    expect(response.body, name).toContain('"kind":"done"');
    expect(await ada.lastEntry()).toMatchObject({ action: 'import', target: name });
  }
  expect((await send('\0')).statusCode).toBe(400);
  for (const type of ['application/json', 'text/csv']) {
    expect((await send('a.csv', { 'content-type': type })).statusCode, type).toBe(415);
  }
  expect((await ada.ask('POST', '/import?kind=csv&name=a.csv')).statusCode).toBe(415);
  expect(loggedErrors()).toEqual([]);
});

test.each(['2026-13-45T99:99:99Z', '2027-02-30T09:00:00Z', '2027-01-01T24:00:00Z'])(
  'a submission cannot be scheduled for the nonexistent time %s',
  async (launchAt) => {
    const submitter = { session: 'session-of-a-maker' };
    const { row } = await createSubmission(site.database, systemRuntime, { name: 'Tide' }, { submitter });
    const refused = await ada.ask('POST', `/submissions/${row.id}/decide`, {
      ...{ action: 'schedule', revision: row.revision, launchAt },
    });
    expect(refused.statusCode, refused.body).toBe(400);
    const { items } = await ada.json<ConsolePage<SubmissionRecord>>('GET', '/submissions');
    expect(items.find(({ id }) => id === row.id)).toMatchObject({ status: 'waiting' });
  },
);

test('the refusal of an invalid decision names the parameter that is missing or invalid', async () => {
  for (const [decision, detail] of [
    [{ action: 'publish' }, /^The parameter 'action' must be one of approve, schedule, decline\.$/],
    [{ action: 'schedule' }, /^The parameter 'launchAt' is missing\.$/],
    [{ action: 'schedule', launchAt: '12026-12-01T09:00:00Z' }, /^The parameter 'launchAt' must be a valid time/],
    [{ action: 'decline', reason: 'A', revision: 2 ** 31 }, /^The parameter 'revision' must be <= 2147483647\.$/],
    [{ action: 'decline' }, /^The parameter 'reason' is missing\.$/],
    [{ action: 'decline', reason: '\u200b' }, /^The parameter 'reason' contains invalid characters\.$/],
    [{ action: 'decline', reason: 'a'.repeat(1_001) }, /^The parameter 'reason' must not have more than 1000/],
  ] as const) {
    const refused = await ada.ask('POST', '/submissions/git/decide', { revision: 1, ...decision });
    expect(refused.json()).toMatchObject({ status: 400, detail: expect.stringMatching(detail) });
  }
});
