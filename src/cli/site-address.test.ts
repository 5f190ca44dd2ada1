import { expect, test } from 'vitest';
import { readSettings } from '../settings/settings.ts';
import { linkOrigin } from './site-address.ts';

test.each([
  [{}, 'http://127.0.0.1:3000'],
  [{ HOST: '0.0.0.0', PORT: '80' }, 'http://127.0.0.1:80'],
  [{ HOST: '::' }, 'http://127.0.0.1:3000'],
  [{ HOST: '::1' }, 'http://[::1]:3000'],
  [{ HOST: '::', SITE_URL: 'https://launches.example' }, 'https://launches.example'],
])('with the settings %j, links begin with %s', (settings, origin) => {
  expect(linkOrigin(readSettings(settings))).toBe(origin);
});
