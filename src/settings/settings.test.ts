import { resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readSettings, SETTING_NAMES, SettingsError } from './settings.ts';

function faultsOf(environment: Record<string, string>): readonly string[] {
  try {
    readSettings(environment);
  } catch (error) {
    if (error instanceof SettingsError) return error.faults;
    throw error;
  }
  return [];
}

describe('defaults', () => {
  test('an empty environment gives the documented defaults', () => {
    expect(readSettings({})).toEqual({
      host: '127.0.0.1',
      port: 3000,
      databaseUrl: undefined,
      dataDir: resolve('data'),
      siteUrl: undefined,
      siteName: 'Groundswell',
      sampleCatalogue: true,
      logLevel: 'info',
    });
  });

  test('a blank setting counts as unset', () => {
    const blank = Object.fromEntries(SETTING_NAMES.map((name) => [name, '  ']));
    expect(readSettings(blank)).toEqual(readSettings({}));
  });
});

describe('values', () => {
  test('every setting is read, without the space around it', () => {
    expect(
      readSettings({
        HOST: ' 0.0.0.0 ',
        PORT: '0',
        DATABASE_URL: 'postgresql://site:secret@db.example:5433/launches?sslmode=require',
        DATA_DIR: '/var/lib/site',
        SITE_URL: 'https://Launches.example/',
        SITE_NAME: 'Launches',
        SAMPLE_CATALOGUE: 'OFF',
        LOG_LEVEL: 'Warn',
      }),
    ).toEqual({
      host: '0.0.0.0',
      port: 0,
      databaseUrl: 'postgresql://site:secret@db.example:5433/launches?sslmode=require',
      dataDir: '/var/lib/site',
      siteUrl: 'https://launches.example',
      siteName: 'Launches',
      sampleCatalogue: false,
      logLevel: 'warn',
    });
  });
});

describe('faults', () => {
  test.each([
    ['HOST', 'http://site.example', /not a host name/],
    ['HOST', 'a b', /not a host name/],
    ['PORT', '65536', /number from 0 to 65535/],
    ['PORT', '-1', /number from 0 to 65535/],
    ['PORT', '3000x', /number from 0 to 65535/],
    ['PORT', '0x10', /number from 0 to 65535/],
    ['PORT', '80.5', /number from 0 to 65535/],
    ['DATABASE_URL', 'db.example', /not a URL/],
    ['DATABASE_URL', 'mysql://root@db/site', /not a PostgreSQL URL/],
    ['SITE_URL', 'launches.example', /not an http or https URL/],
    ['SITE_URL', 'ftp://launches.example', /not an http or https URL/],
    ['SITE_URL', 'https://launches.example/wave', /origin only/],
    ['SITE_URL', 'https://launches.example?x=1', /origin only/],
    ['SITE_URL', 'https://launches.example#x', /origin only/],
    ['SITE_URL', 'https://user:word@launches.example', /origin only/],
    ['SITE_URL', 'https://:word@launches.example', /origin only/],
    ['SITE_NAME', 'x'.repeat(61), /longer than 60/],
    ['SAMPLE_CATALOGUE', 'yes', /neither on nor off/],
    ['SAMPLE_CATALOGUE', 'constructor', /neither on nor off/],
    ['LOG_LEVEL', 'loud', /is not one of fatal, error, warn/],
  ])('%s=%s is one line that names the setting and what it takes', (name, value, what) => {
    expect(faultsOf({ [name]: value })).toEqual([expect.stringMatching(what)]);
    expect(faultsOf({ [name]: value })[0]).toMatch(new RegExp(`^${name}: [^\\n]+$`));
  });

  test('all faults are listed at once', () => {
    const faults = faultsOf({
      HOST: 'a b',
      PORT: 'x',
      DATABASE_URL: 'x',
      SITE_URL: 'x',
      SITE_NAME: 'x'.repeat(99),
      SAMPLE_CATALOGUE: 'x',
      LOG_LEVEL: 'x',
    });
    expect(faults.map((fault) => fault.split(':')[0])).toEqual([
      'HOST',
      'PORT',
      'DATABASE_URL',
      'SITE_URL',
      'SITE_NAME',
      'SAMPLE_CATALOGUE',
      'LOG_LEVEL',
    ]);
  });

  test.each([
    ['DATABASE_URL', 'postgres//site:hunter2@db/site'],
    ['DATABASE_URL', 'mysql://site:hunter2@db/site'],
    ['SITE_URL', 'https://site:hunter2@launches.example'],
    ['SITE_URL', 'https://:hunter2@launches.example'],
    ['SITE_URL', 'postgres://site:hunter2@db/site'],
    ['HOST', 'postgres://site:hunter2@db/site'],
  ])('a password in %s is never repeated', (name, value) => {
    const faults = faultsOf({ [name]: value });
    expect(faults).toHaveLength(1);
    expect(faults.join()).not.toContain('hunter2');
  });
});
