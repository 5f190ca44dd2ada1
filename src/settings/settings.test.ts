import { resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { errorsOf } from '../../tests/support/environment.ts';
import { DEFAULT_RATE_LIMITS } from './rate-limits.ts';
import { readSettings, SETTING_NAMES, SETTINGS } from './settings.ts';

const WHSEC = {
  old: `whsec_${Buffer.alloc(24, 1).toString('base64')}`,
  new: `whsec_${Buffer.alloc(64, 2).toString('base64')}`,
};

describe('defaults', () => {
  test('an empty environment gives the documented defaults', () => {
    expect(readSettings({})).toMatchObject({
      host: '127.0.0.1',
      port: 3000,
      databaseUrl: undefined,
      replicaUrls: [],
      processes: 1,
      stopDelayMs: 0,
      dataDir: resolve('data'),
      siteUrl: undefined,
      siteName: 'Groundswell',
      siteTagline: undefined,
      siteLogo: undefined,
      accent: undefined,
      siteArticles: undefined,
      locale: { code: 'en', isNegotiated: false },
      sampleCatalogue: true,
      submissions: 'off',
      launches: { timeZone: 'UTC', reviewHours: 24, votesPerNetwork: 20 },
      page: { timeZone: 'UTC', votesPerNetwork: 20 },
      rateLimits: DEFAULT_RATE_LIMITS,
      streamLimits: { perProcess: 5_000, perNetwork: 500 },
      trustProxy: undefined,
      metricsPort: undefined,
      metricsToken: undefined,
      backups: undefined,
      moderationLog: 'off',
      webhooks: undefined,
      logLevel: 'info',
    });
  });

  test('a blank setting counts as unset', () => {
    const blank = Object.fromEntries(SETTING_NAMES.map((name) => [name, '  ']));
    expect(readSettings(blank)).toEqual(readSettings({}));
  });
});

describe('values', () => {
  test('localhost stands for 127.0.0.1, so the site has one listening socket', () => {
    expect(readSettings({ HOST: 'localhost' }).host).toBe('127.0.0.1');
  });

  test('the name of the site is one line of at most 60 characters', () => {
    expect(readSettings({ SITE_NAME: `Launch\n ${'🌊'.repeat(53)}` }).siteName).toBe(`Launch ${'🌊'.repeat(53)}`);
  });

  test('every setting is read, and whitespace around a value is ignored', () => {
    expect(
      readSettings({
        HOST: ' 0.0.0.0 ',
        PORT: '0',
        DATABASE_URL: 'postgresql://site:secret@db.example:5433/launches?sslmode=require',
        DATA_DIR: '/var/lib/site',
        DATABASE_REPLICA_URL: 'postgres://site@one/launches, postgres://site@two/launches',
        WEB_CONCURRENCY: '4',
        STOP_DELAY: '15',
        SITE_URL: 'https://Launches.example/',
        SITE_NAME: 'Launches',
        SITE_TAGLINE: 'New every day',
        SITE_LOGO: 'brand/logo.svg',
        SITE_ACCENT: '#0B6E4F',
        SITE_ARTICLES: '/etc/site/articles.json',
        SITE_LOCALE: 'de, auto',
        SUBMISSIONS: ' Moderated ',
        SAMPLE_CATALOGUE: 'OFF',
        SITE_TIME_ZONE: 'Europe/Berlin',
        LEADERBOARD_REVIEW_HOURS: '0',
        VOTES_PER_NETWORK: '5',
        RATE_LIMITS: 'On',
        LIMIT_UPVOTES_PER_SESSION: '1',
        LIMIT_UPVOTES_PER_NETWORK: '2',
        LIMIT_COMMENTS_PER_SESSION: '3',
        LIMIT_COMMENTS_PER_NETWORK: '4',
        LIMIT_LIKES_PER_SESSION: '5',
        LIMIT_LIKES_PER_NETWORK: '6',
        LIMIT_SUBMISSIONS_PER_SESSION: '9',
        LIMIT_SUBMISSIONS_PER_NETWORK: '10',
        LIMIT_SEARCHES_PER_NETWORK: '7',
        LIMIT_STREAMS_PER_NETWORK: '8',
        MAX_STREAMS: '0',
        TRUST_PROXY: 'loopback, 192.0.2.1',
        METRICS_PORT: '9464',
        METRICS_TOKEN: '0123456789abcdef',
        BACKUP_DIR: 'backups',
        BACKUP_EVERY: '6h',
        BACKUP_KEEP: '30',
        MODERATION_LOG: 'Public',
        WEBHOOK_URL: 'http://ada:p%40ss@hooks.internal/site?key=1',
        WEBHOOK_SECRET: `${WHSEC.old} ${WHSEC.new}`,
        WEBHOOK_ALLOW_HTTP: 'on',
        LOG_LEVEL: 'Warn',
      }),
    ).toMatchObject({
      host: '0.0.0.0',
      port: 0,
      databaseUrl: 'postgresql://site:secret@db.example:5433/launches?sslmode=require',
      replicaUrls: ['postgres://site@one/launches', 'postgres://site@two/launches'],
      processes: 4,
      stopDelayMs: 15_000,
      dataDir: '/var/lib/site',
      siteUrl: 'https://launches.example',
      siteName: 'Launches',
      siteTagline: 'New every day',
      siteLogo: resolve('brand/logo.svg'),
      accent: expect.objectContaining({ light: expect.objectContaining({ sun: '#0b6e4f' }) }),
      siteArticles: '/etc/site/articles.json',
      locale: { code: 'de', isNegotiated: true },
      sampleCatalogue: false,
      submissions: 'moderated',
      launches: { timeZone: 'Europe/Berlin', reviewHours: 0, votesPerNetwork: 5 },
      page: { timeZone: 'Europe/Berlin', votesPerNetwork: 5, hasSubmissions: true },
      rateLimits: {
        upvote: { session: { amount: 1, seconds: 60 }, network: { amount: 2, seconds: 60 } },
        comment: { session: { amount: 3, seconds: 60 }, network: { amount: 4, seconds: 60 } },
        like: { session: { amount: 5, seconds: 60 }, network: { amount: 6, seconds: 60 } },
        submission: { session: { amount: 9, seconds: 3_600 }, network: { amount: 10, seconds: 3_600 } },
        maker: DEFAULT_RATE_LIMITS.maker,
        picture: DEFAULT_RATE_LIMITS.picture,
        search: { network: { amount: 7, seconds: 1 } },
      },
      streamLimits: { perProcess: 0, perNetwork: 8 },
      trustProxy: expect.any(Function),
      metricsPort: 9464,
      metricsToken: '0123456789abcdef',
      backups: { folder: resolve('backups'), intervalMs: 6 * 3_600_000, maxBackups: 30 },
      moderationLog: 'public',
      webhooks: {
        url: 'http://hooks.internal/site?key=1',
        authorization: `Basic ${btoa('ada:p@ss')}`,
        secrets: [Buffer.alloc(24, 1), Buffer.alloc(64, 2)],
      },
      logLevel: 'warn',
    });
  });
});

describe('invalid settings', () => {
  test.each([
    ['HOST', 'http://site.example', /not a host name/],
    ['HOST', 'a b', /not a host name/],
    ['PORT', '65536', /number from 0 to 65535/],
    ['PORT', '-1', /number from 0 to 65535/],
    ['PORT', '3000x', /number from 0 to 65535/],
    ['PORT', '0x10', /number from 0 to 65535/],
    ['PORT', '80.5', /number from 0 to 65535/],
    ['SITE_TIME_ZONE', 'Berlin/Mitte', /not a time zone/],
    ['LEADERBOARD_REVIEW_HOURS', '721', /from 0 to 720/],
    ['VOTES_PER_NETWORK', '0', /number of votes must be from 1 to/],
    ['METRICS_PORT', 'x', /number from 0 to 65535/],
    ['METRICS_PORT', '3000', /must not be the same port as PORT/],
    ['SITE_LOCALE', 'xx', /'xx' is not one of ar, de, en, .*, auto/],
    ['SITE_LOCALE', 'xx,auto', /is not one of ar, de, en/],
    ['SITE_LOCALE', 'de,fr', /is not one of ar, de, en/],
    ['SITE_LOCALE', 'auto,auto', /is not one of ar, de, en/],
    ['METRICS_TOKEN', 'short', /^METRICS_TOKEN: this must be 16 to 200 visible ASCII/],
    ['METRICS_TOKEN', 'has a space in it all', /^METRICS_TOKEN: this must be 16 to 200 visible ASCII/],
    ['DATABASE_URL', 'db.example', /not a URL/],
    ['DATABASE_URL', 'postgres://site@db/site?port=x', /number from 0 to 65535/],
    ['DATABASE_URL', 'mysql://root@db/site', /not a PostgreSQL URL/],
    ['WEB_CONCURRENCY', '0', /processes must be from 1 to 64/],
    ['WEB_CONCURRENCY', '65', /processes must be from 1 to 64/],
    ['WEB_CONCURRENCY', 'auto', /processes must be from 1 to 64/],
    ['STOP_DELAY', '301', /seconds must be from 0 to 300/],
    ['STOP_DELAY', '5s', /seconds must be from 0 to 300/],
    ['DATABASE_REPLICA_URL', 'replica', /not a URL/],
    ['DATABASE_REPLICA_URL', 'postgres://site@one/launches', /no effect without DATABASE_URL/],
    ['SITE_URL', 'launches.example', /not an http or https URL/],
    ['SITE_URL', 'ftp://launches.example', /not an http or https URL/],
    ['SITE_URL', 'https://launches.example/wave', /must have no path, query, fragment or password/],
    ['SITE_URL', 'https://launches.example?x=1', /must have no path, query, fragment or password/],
    ['SITE_URL', 'https://launches.example#x', /must have no path, query, fragment or password/],
    ['SITE_URL', 'https://user:word@launches.example', /must have no path, query, fragment or password/],
    ['SITE_URL', 'https://:word@launches.example', /must have no path, query, fragment or password/],
    ['SITE_NAME', 'x'.repeat(61), /longer than 60/],
    ['SAMPLE_CATALOGUE', 'yes', /must be on or off/],
    ['SAMPLE_CATALOGUE', 'constructor', /must be on or off/],
    ['RATE_LIMITS', 'no', /must be on or off/],
    ['BACKUP_EVERY', 'daily', /interval must be .*30m, 6h or 1d/],
    ['BACKUP_EVERY', '0h', /interval must be/],
    ['BACKUP_EVERY', '999999d', /interval must be/],
    ['BACKUP_KEEP', '0', /backups must be from 1 to/],
    ['MAX_STREAMS', '-1', /number from 0 to/],
    ['LIMIT_UPVOTES_PER_SESSION', '0', /number from 1 to/],
    ['LIMIT_UPVOTES_PER_NETWORK', '-5', /number from 1 to/],
    ['LIMIT_COMMENTS_PER_SESSION', '1.5', /number from 1 to/],
    ['LIMIT_COMMENTS_PER_NETWORK', '1e3', /number from 1 to/],
    ['LIMIT_LIKES_PER_SESSION', 'many', /number from 1 to/],
    ['LIMIT_LIKES_PER_NETWORK', '10000000', /number from 1 to/],
    ['LIMIT_SEARCHES_PER_NETWORK', '20/s', /number from 1 to/],
    ['TRUST_PROXY', 'yes', /not an address/],
    ['MODERATION_LOG', 'on', /must be off or public/],
    ['LOG_LEVEL', 'loud', /is not one of fatal, error, warn/],
  ])('%s=%s is reported in one line with the setting and what it accepts', (name, value, what) => {
    expect(errorsOf({ [name]: value })).toEqual([expect.stringMatching(what)]);
    expect(errorsOf({ [name]: value })[0]).toMatch(new RegExp(`^${name}: [^\\n]+$`));
  });

  test('the number ranges in the descriptions are exactly those that are accepted', () => {
    const ranges = Object.values(SETTINGS).flatMap(({ name, about }) =>
      [...about.matchAll(/\((\d+)–(\d+)\)/g)].map(([, min, max]) => ({ name, min: Number(min), max: Number(max) })),
    );
    expect(ranges.map(({ name }) => name)).toEqual(['LEADERBOARD_REVIEW_HOURS', 'VOTES_PER_NETWORK', 'BACKUP_KEEP']);
    for (const { name, min, max } of ranges) {
      const errors = (value: number) => errorsOf({ BACKUP_DIR: '/backups', [name]: `${value}` });
      expect([min - 1, min, max, max + 1].filter((value) => errors(value).length === 0)).toEqual([min, max]);
    }
  });

  test('an invalid limit is reported even while limits are off', () => {
    expect(errorsOf({ RATE_LIMITS: 'off', LIMIT_LIKES_PER_SESSION: 'x' })).toHaveLength(1);
    expect(readSettings({ RATE_LIMITS: 'off' }).rateLimits).toBeUndefined();
    expect(readSettings({ RATE_LIMITS: 'off' }).streamLimits).toEqual({ perProcess: 5_000, perNetwork: undefined });
  });

  test('PORT and METRICS_PORT may both be 0, because each selects its own free port', () => {
    expect(readSettings({ PORT: '0', METRICS_PORT: '0' })).toMatchObject({ port: 0, metricsPort: 0 });
  });

  test('backup settings without BACKUP_DIR are reported', () => {
    expect(errorsOf({ BACKUP_EVERY: '1d', BACKUP_KEEP: '3' })).toEqual([
      expect.stringMatching(/^BACKUP_EVERY: this has no effect without BACKUP_DIR/),
      expect.stringMatching(/^BACKUP_KEEP: this has no effect without BACKUP_DIR/),
    ]);
  });

  test('all errors are reported at once', () => {
    const errors = errorsOf({
      HOST: 'a b',
      PORT: 'x',
      DATABASE_URL: 'x',
      SITE_URL: 'x',
      SITE_NAME: 'x'.repeat(99),
      SITE_LOCALE: 'xx',
      SAMPLE_CATALOGUE: 'x',
      LIMIT_LIKES_PER_SESSION: 'x',
      TRUST_PROXY: 'x',
      LOG_LEVEL: 'x',
    });
    expect(errors.map((error) => error.split(':')[0])).toEqual([
      'HOST',
      'PORT',
      'DATABASE_URL',
      'SITE_URL',
      'SITE_NAME',
      'SITE_LOCALE',
      'SAMPLE_CATALOGUE',
      'LIMIT_LIKES_PER_SESSION',
      'TRUST_PROXY',
      'LOG_LEVEL',
    ]);
  });

  test.each([
    ['DATABASE_URL', 'postgres//site:hunter2@db/site'],
    ['DATABASE_URL', 'postgres://site:/hunter2@db/site'],
    ['DATABASE_URL', 'postgres://site:12/hunter2@db/site'],
    ['DATABASE_URL', 'postgres://site:12#hunter2@db/site'],
    ['DATABASE_URL', 'postgres://site:12?port=hunter2@db/site'],
    ['DATABASE_URL', 'mysql://site:hunter2@db/site'],
    ['SITE_URL', 'https://site:hunter2@launches.example'],
    ['SITE_URL', 'https://:hunter2@launches.example'],
    ['SITE_URL', 'postgres://site:hunter2@db/site'],
    ['TRUST_PROXY', 'postgres://site:hunter2,@db/site'],
  ])('the error about a password in %s never repeats the password', (name, value) => {
    const errors = errorsOf({ [name]: value });
    expect(errors).toHaveLength(1);
    expect(errors.join()).not.toContain('hunter2');
  });

  test.each(SETTING_NAMES)('if %s is set to a database URL, no error repeats its password', (name) => {
    expect(errorsOf({ [name]: 'postgres://a:hunter2@db/site' }).join()).not.toContain('hunter2');
  });
});
