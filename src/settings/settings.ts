import { resolve } from 'node:path';
import { type BackupSettings, backupSettingsOf, readInterval, readKept } from './backup-settings.ts';
import { readProcesses, readStopDelay } from './process-settings.ts';
import { RATE_LIMIT_SETTINGS, type RateLimits, rateLimitsOf } from './rate-limits.ts';
import { DEFAULT_STREAM_LIMITS, type StreamLimits } from './stream-limits.ts';
import { readTrustedProxies, type TrustedProxies } from './trusted-proxies.ts';

/** What the operator can set, read and checked; see docs/configuration.md. */
export interface Settings {
  host: string;
  /** 0 lets the kernel pick a free one. */
  port: number;
  databaseUrl: string | undefined;
  /** Servers that follow that one, to be read from. */
  replicaUrls: readonly string[];
  /** How many processes serve the site on this machine. */
  processes: number;
  /** How long the site goes on serving after it was told to stop, while it says that it is not ready. */
  stopDelayMs: number;
  /** Absolute. */
  dataDir: string;
  /** Origin for absolute links, without a slash at the end; unset: the address that the server listens on. */
  siteUrl: string | undefined;
  siteName: string;
  sampleCatalogue: boolean;
  /** Unset: nothing is limited. */
  rateLimits: RateLimits | undefined;
  streamLimits: StreamLimits;
  /** Unset: nobody is trusted. */
  trustProxy: TrustedProxies | undefined;
  /** Where metrics are served apart from the site; 0 lets the kernel pick. */
  metricsPort: number | undefined;
  /** Who brings it may see the metrics. */
  metricsToken: string | undefined;
  /** Unset: the site makes no backups by itself. */
  backups: BackupSettings | undefined;
  logLevel: LogLevel;
}

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Every setting: where its default comes from, and how its text is read. A reader throws what is wrong with the text. */
const READERS = {
  HOST: { fallback: '127.0.0.1', read: readHost },
  PORT: { fallback: '3000', read: readPort },
  DATABASE_URL: { fallback: undefined, read: readDatabaseUrl },
  DATABASE_REPLICA_URL: { fallback: '', read: readReplicaUrls },
  WEB_CONCURRENCY: { fallback: '1', read: readProcesses },
  STOP_DELAY: { fallback: '0', read: readStopDelay },
  DATA_DIR: { fallback: './data', read: (text: string) => resolve(text) },
  SITE_URL: { fallback: undefined, read: readSiteUrl },
  SITE_NAME: { fallback: 'Groundswell', read: readSiteName },
  SAMPLE_CATALOGUE: { fallback: 'on', read: readSwitch },
  RATE_LIMITS: { fallback: 'on', read: readSwitch },
  LIMIT_UPVOTES_PER_SESSION: { fallback: RATE_LIMIT_SETTINGS.LIMIT_UPVOTES_PER_SESSION, read: readAmount },
  LIMIT_UPVOTES_PER_NETWORK: { fallback: RATE_LIMIT_SETTINGS.LIMIT_UPVOTES_PER_NETWORK, read: readAmount },
  LIMIT_COMMENTS_PER_SESSION: { fallback: RATE_LIMIT_SETTINGS.LIMIT_COMMENTS_PER_SESSION, read: readAmount },
  LIMIT_COMMENTS_PER_NETWORK: { fallback: RATE_LIMIT_SETTINGS.LIMIT_COMMENTS_PER_NETWORK, read: readAmount },
  LIMIT_LIKES_PER_SESSION: { fallback: RATE_LIMIT_SETTINGS.LIMIT_LIKES_PER_SESSION, read: readAmount },
  LIMIT_LIKES_PER_NETWORK: { fallback: RATE_LIMIT_SETTINGS.LIMIT_LIKES_PER_NETWORK, read: readAmount },
  LIMIT_SEARCHES_PER_NETWORK: { fallback: RATE_LIMIT_SETTINGS.LIMIT_SEARCHES_PER_NETWORK, read: readAmount },
  LIMIT_STREAMS_PER_NETWORK: { fallback: RATE_LIMIT_SETTINGS.LIMIT_STREAMS_PER_NETWORK, read: readAmount },
  MAX_STREAMS: { fallback: `${DEFAULT_STREAM_LIMITS.perProcess}`, read: readStreams },
  TRUST_PROXY: { fallback: undefined, read: readTrustedProxies },
  METRICS_PORT: { fallback: undefined, read: readPort },
  METRICS_TOKEN: { fallback: undefined, read: readToken },
  BACKUP_DIR: { fallback: undefined, read: (text: string) => resolve(text) },
  BACKUP_EVERY: { fallback: '1d', read: readInterval },
  BACKUP_KEEP: { fallback: '7', read: readKept },
  LOG_LEVEL: { fallback: 'info', read: readLogLevel },
} as const;

/** The names of all settings, for the test that each is documented. */
export const SETTING_NAMES = Object.keys(READERS);

/** Settings that cannot be used: every fault of them, a line each. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';

  constructor(readonly faults: readonly string[]) {
    super(faults.join('\n'));
  }
}

/** Reads the settings from an environment; a blank one counts as unset. @throws SettingsError with all faults at once. */
export function readSettings(environment: Readonly<Record<string, string | undefined>>): Settings {
  const faults: string[] = [];
  const get = <Name extends keyof typeof READERS>(name: Name) => {
    const { fallback, read } = READERS[name] as { fallback: string | undefined; read: (text: string) => unknown };
    const text = environment[name]?.trim() || fallback;
    try {
      return (text === undefined ? undefined : read(text)) as ReturnType<(typeof READERS)[Name]['read']>;
    } catch (error) {
      faults.push(`${name}: ${error instanceof Error ? error.message : String(error)}`);
      // Never seen: a fault ends in a SettingsError below.
      return undefined as never;
    }
  };
  const settings: Settings = {
    host: get('HOST'),
    port: get('PORT'),
    databaseUrl: get('DATABASE_URL'),
    replicaUrls: get('DATABASE_REPLICA_URL'),
    processes: get('WEB_CONCURRENCY'),
    stopDelayMs: get('STOP_DELAY'),
    dataDir: get('DATA_DIR'),
    siteUrl: get('SITE_URL'),
    siteName: get('SITE_NAME'),
    sampleCatalogue: get('SAMPLE_CATALOGUE'),
    rateLimits: readRateLimits(get('RATE_LIMITS'), rateLimitsOf(get)),
    streamLimits: { perProcess: get('MAX_STREAMS'), perNetwork: get('LIMIT_STREAMS_PER_NETWORK') },
    trustProxy: get('TRUST_PROXY'),
    metricsPort: get('METRICS_PORT'),
    metricsToken: get('METRICS_TOKEN'),
    backups: backupSettingsOf(get('BACKUP_DIR'), get('BACKUP_EVERY'), get('BACKUP_KEEP')),
    logLevel: get('LOG_LEVEL'),
  };
  if (settings.backups === undefined) faults.push(...withoutFolder(environment, faults));
  if (settings.databaseUrl === undefined && settings.replicaUrls?.length > 0) {
    faults.push('DATABASE_REPLICA_URL: this has no effect without DATABASE_URL, the server that the replicas follow');
  }
  if (faults.length > 0) throw new SettingsError(faults);
  return settings.rateLimits ? settings : withoutNetworkLimits(settings);
}

function withoutNetworkLimits(settings: Settings): Settings {
  return { ...settings, streamLimits: { ...settings.streamLimits, perNetwork: undefined } };
}

/** Whoever sets how often backups are made believes that they are. */
function withoutFolder(environment: Readonly<Record<string, string | undefined>>, faults: readonly string[]): string[] {
  const set = ['BACKUP_EVERY', 'BACKUP_KEEP'].filter((name) => environment[name]?.trim());
  const idle = set.filter((name) => !faults.some((fault) => fault.startsWith(`${name}: `)));
  return idle.map((name) => `${name}: this has no effect without BACKUP_DIR, the folder of the backups`);
}

function readHost(text: string): string {
  if (/[\s/]/.test(text))
    throw new Error(`${quote(text)} is not a host name or an address, such as 127.0.0.1 or 0.0.0.0`);
  return text;
}

function readPort(text: string): number {
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535)
    throw new Error(`'${text}' is not a port; it must be a number from 0 to 65535`);
  return Number(text);
}

function readDatabaseUrl(text: string): string {
  // The text may hold a password, so a fault never repeats it.
  const shape = 'it must look like postgres://role:password@host:5432/database';
  if (!URL.canParse(text)) throw new Error(`this is not a URL; ${shape}`);
  if (!/^postgres(?:ql)?:$/.test(new URL(text).protocol)) throw new Error(`this is not a PostgreSQL URL; ${shape}`);
  return text;
}

function readReplicaUrls(text: string): string[] {
  const urls = text.split(',').map((url) => url.trim());
  return urls.filter((url) => url !== '').map(readDatabaseUrl);
}

function readSiteUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol))
    throw new Error(`${quote(text)} is not an http or https URL, such as https://launches.example`);
  if (url.href !== `${url.origin}/`) {
    throw new Error(
      `${quote(text)} must be an origin only, such as ${url.origin}: the site lives at the root of its host`,
    );
  }
  return url.origin;
}

function readSiteName(text: string): string {
  if (text.length > 60) throw new Error('this is longer than 60 characters');
  return text;
}

function readSwitch(text: string): boolean {
  const value = new Map([
    ['on', true],
    ['off', false],
  ]).get(text.toLowerCase());
  if (value === undefined) throw new Error(`'${text}' is neither on nor off`);
  return value;
}

function readRateLimits(areOn: boolean, limits: RateLimits): RateLimits | undefined {
  return areOn ? limits : undefined;
}

function readStreams(text: string): number {
  if (!/^\d{1,6}$/.test(text)) throw new Error(`${quote(text)} is not an amount; it must be a number from 0 to 999999`);
  return Number(text);
}

/** Read even where limits are off: a fault should not wait for the day on which they are needed. */
function readAmount(text: string): number {
  if (!/^\d{1,7}$/.test(text) || Number(text) === 0)
    throw new Error(
      `${quote(text)} is not an amount; it must be a number from 1 to 9999999 (RATE_LIMITS=off lifts all limits)`,
    );
  return Number(text);
}

/** A secret, so that a fault never repeats it. */
function readToken(text: string): string {
  if (!/^[\x21-\x7e]{16,200}$/.test(text))
    throw new Error(
      'this is not 16 to 200 visible ASCII characters without a space, such as `openssl rand -hex 16` prints',
    );
  return text;
}

function readLogLevel(text: string): LogLevel {
  const level = LOG_LEVELS.find((known) => known === text.toLowerCase());
  if (level === undefined) throw new Error(`'${text}' is not one of ${LOG_LEVELS.join(', ')}`);
  return level;
}

/** A faulty value as it is repeated: a URL that went astray may hold a password before its `@`. */
function quote(text: string): string {
  return `'${text.replace(/^.*@/s, '…@')}'`;
}
