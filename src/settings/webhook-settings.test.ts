import { expect, test } from 'vitest';
import { errorsOf } from '../../tests/support/environment.ts';
import { readSettings } from './settings.ts';

const SECRET = `whsec_${Buffer.alloc(24, 1).toString('base64')}`;
const URL = 'https://hooks.example/secret-path';

test.each([
  'http://localhost:3001/hook',
  'http://127.0.0.2/hook',
  'http://[::1]:3001/hook',
  'https://hooks.example/hook',
])('%s is accepted as the URL of a receiver', (url) => {
  expect(readSettings({ WEBHOOK_URL: url, WEBHOOK_SECRET: SECRET }).webhooks).toMatchObject({ url });
});

test.each([
  ['hooks.example/secret', SECRET, /^WEBHOOK_URL: this is not an https URL/],
  ['ftp://hooks.example/secret', SECRET, /^WEBHOOK_URL: this is not an https URL/],
  ['https://hooks.example/#secret', SECRET, /^WEBHOOK_URL: this has a fragment/],
  ['https://secret%zz@hooks.example', SECRET, /^WEBHOOK_URL: the user name or password has an incomplete escape/],
  ['http://hooks.example/secret', SECRET, /^WEBHOOK_URL: this is not encrypted/],
  ['http://localhost.example/secret', SECRET, /^WEBHOOK_URL: this is not encrypted/],
  [URL, '', /^WEBHOOK_SECRET: WEBHOOK_URL requires a secret/],
  ['', SECRET, /^WEBHOOK_SECRET: this has no effect without WEBHOOK_URL/],
  [URL, 'secret', /^WEBHOOK_SECRET: each secret must be whsec_/],
  [URL, 'whsec_c2VjcmV0', /24 to 64 bytes/],
  [URL, `whsec_${Buffer.alloc(65).toString('base64')}`, /24 to 64 bytes/],
  [URL, `${SECRET}=`, /24 to 64 bytes/],
  [URL, `${SECRET} whsec_secret!`, /24 to 64 bytes/],
  [URL, Array(5).fill(SECRET).join(' '), /^WEBHOOK_SECRET: this has more than 4 secrets/],
])('WEBHOOK_URL=%s with WEBHOOK_SECRET=%s causes one error, which repeats neither', (url, secret, what) => {
  const errors = errorsOf({ WEBHOOK_URL: url, WEBHOOK_SECRET: secret });
  expect(errors).toEqual([expect.stringMatching(what)]);
  for (const hidden of ['secret!', '/secret', '#secret', 'secret%', SECRET.slice(6), 'c2VjcmV0'])
    expect(errors[0]).not.toContain(hidden);
});
