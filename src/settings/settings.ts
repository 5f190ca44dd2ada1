import { resolve } from 'node:path';
import { VOTES_PER_NETWORK } from '../contract/limits.ts';
import type { PageSettings } from '../contract/site.ts';
import { BACKUP_SETTINGS, type BackupSettings, unusedBackupSettings } from './backup-settings.ts';
import { BRAND_SETTINGS } from './brand-settings.ts';
import { readProcesses, readStopDelay } from './process-settings.ts';
import {
  DEFAULT_STREAM_LIMITS,
  LIMIT_SETTINGS,
  type RateLimits,
  rateLimitsOf,
  type StreamLimits,
} from './rate-limits.ts';
import {
  LOG_LEVELS,
  oneLine,
  oneOf,
  readDatabaseUrl,
  readHost,
  readLocale,
  readLogLevel,
  readPort,
  readReplicaUrls,
  readSiteUrl,
  readSwitch,
  readTimeZone,
  readToken,
  wholeNumber,
} from './read-value.ts';
import { readTrustedProxies } from './trusted-proxies.ts';
import { WEBHOOK_SETTINGS, type WebhookSettings, webhooksOf } from './webhook-settings.ts';

interface Declaration {
  /** The name of the environment variable. */
  name: string;
  /** The default as an operator would write it; undefined if there is none. */
  default: string | undefined;
  /** Parses the text. @throws Error with a one-line message, which never contains secrets. */
  read(text: string): unknown;
  /** The description in docs/configuration.md, as Markdown. */
  about: string;
}

/** All settings, keyed by property name. The table in docs/configuration.md is generated from them. */
export const SETTINGS = {
  host: {
    name: 'HOST',
    default: '127.0.0.1',
    read: readHost,
    about: 'Address to listen on; `0.0.0.0` or `::` accepts connections from other machines',
  },
  port: { name: 'PORT', default: '3000', read: readPort, about: 'Port to listen on; `0` picks a free one' },
  databaseUrl: {
    name: 'DATABASE_URL',
    default: undefined,
    read: readDatabaseUrl,
    about: 'URL of a PostgreSQL server (14 or newer); if unset, an embedded one runs',
  },
  replicaUrls: {
    name: 'DATABASE_REPLICA_URL',
    default: '',
    read: readReplicaUrls,
    about: "Comma-separated URLs of the `DATABASE_URL` server's [replicas](operations.md#read-replicas), for reads",
  },
  processes: {
    name: 'WEB_CONCURRENCY',
    default: '1',
    read: readProcesses,
    about: 'Number of [processes](#web_concurrency) that serve the site',
  },
  stopDelayMs: {
    name: 'STOP_DELAY',
    default: '0',
    read: readStopDelay,
    about: 'Seconds to [keep serving](#stop_delay) after SIGTERM',
  },
  dataDir: {
    name: 'DATA_DIR',
    default: './data',
    read: (text: string) => resolve(text),
    about: "Folder of the embedded database and the site's own pictures",
  },
  /** The value has no trailing slash. */
  siteUrl: {
    name: 'SITE_URL',
    default: undefined,
    read: readSiteUrl,
    about: 'Public origin of the site',
  },
  siteName: {
    name: 'SITE_NAME',
    default: 'Groundswell',
    read: oneLine(60),
    about: 'Name in header, banner and titles, at most 60 characters',
  },
  ...BRAND_SETTINGS,
  locale: {
    name: 'SITE_LOCALE',
    default: 'en',
    read: readLocale,
    about: '[Language](#site_locale) of the pages',
  },
  sampleCatalogue: {
    name: 'SAMPLE_CATALOGUE',
    default: 'on',
    read: readSwitch,
    about: 'Whether to load the [sample catalogue](#sample_catalogue) into a new embedded database',
  },
  submissions: {
    name: 'SUBMISSIONS',
    default: 'off',
    read: oneOf('off', 'moderated'),
    about: '`moderated` lets visitors [submit products](submissions.md) for review',
  },
  timeZone: {
    name: 'SITE_TIME_ZONE',
    default: 'UTC',
    read: readTimeZone,
    about: 'IANA time zone in which the days of the [leaderboards](#leaderboards) begin',
  },
  reviewHours: {
    name: 'LEADERBOARD_REVIEW_HOURS',
    default: '24',
    read: wholeNumber(0, 720, 'is invalid: it must be a whole number of hours'),
    about: 'Hours (0–720) until a provisional result is final',
  },
  votesPerNetwork: {
    name: 'VOTES_PER_NETWORK',
    default: `${VOTES_PER_NETWORK}`,
    read: wholeNumber(1, 9_999_999, 'is invalid: the number of votes must be'),
    about: 'Maximum counted votes (1–9999999) per launch and IPv4 address or IPv6 /64',
  },
  limitsOn: {
    name: 'RATE_LIMITS',
    default: 'on',
    read: readSwitch,
    about: '`off` disables [limits](#rate_limits) per visitor or network',
  },
  ...LIMIT_SETTINGS,
  maxStreams: {
    name: 'MAX_STREAMS',
    default: `${DEFAULT_STREAM_LIMITS.perProcess}`,
    read: wholeNumber(0, 999_999, 'is invalid: the limit must be a number'),
    about: 'Maximum open event streams per process',
  },
  trustProxy: {
    name: 'TRUST_PROXY',
    default: undefined,
    read: readTrustedProxies,
    about: 'Proxies whose `X-Forwarded-For` is [trusted](#trust_proxy)',
  },
  metricsPort: {
    name: 'METRICS_PORT',
    default: undefined,
    read: readPort,
    about: 'Separate port for the [metrics](#metrics_port-and-metrics_token)',
  },
  metricsToken: {
    name: 'METRICS_TOKEN',
    default: undefined,
    read: readToken,
    about: 'Secret that gives access to the metrics',
  },
  ...BACKUP_SETTINGS,
  moderationLog: {
    name: 'MODERATION_LOG',
    default: 'off',
    read: oneOf('off', 'public'),
    about: '`public` shows visitors [what was moderated](moderation.md#the-public-log), and why',
  },
  ...WEBHOOK_SETTINGS,
  logLevel: {
    name: 'LOG_LEVEL',
    default: 'info',
    read: readLogLevel,
    about: `One of ${LOG_LEVELS.map((level) => `\`${level}\``).join(', ')}`,
  },
} as const satisfies Record<string, Declaration>;

type Key = keyof typeof SETTINGS;
type Values = {
  [K in Key]: ReturnType<(typeof SETTINGS)[K]['read']> | ((typeof SETTINGS)[K]['default'] & undefined);
};

export const SETTING_NAMES: readonly string[] = Object.values(SETTINGS).map(({ name }) => name);

type Grouped =
  | 'timeZone'
  | 'reviewHours'
  | 'votesPerNetwork'
  | 'limitsOn'
  | 'maxStreams'
  | `${string}Per${'Session' | 'Network'}`
  | `backup${string}`
  | `webhook${string}`;

/** Settings that belong to no group. */
type Others = Omit<Values, Extract<Key, Grouped>>;

/** The validated settings of a process. */
export interface Settings extends Others {
  launches: { timeZone: string; reviewHours: number; votesPerNetwork: number };
  page: PageSettings;
  /** If undefined, requests are not rate-limited. */
  rateLimits: RateLimits | undefined;
  streamLimits: StreamLimits;
  /** If undefined, no backups are scheduled. */
  backups: BackupSettings | undefined;
  /** If undefined, no webhooks are sent. */
  webhooks: WebhookSettings | undefined;
}

/** Thrown for invalid settings. The message lists all errors, one per line. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';

  constructor(readonly errors: readonly string[]) {
    super(errors.join('\n'));
  }
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Reads the settings from environment variables; blank ones count as unset. @throws SettingsError with all errors. */
export function readSettings(environment: Environment): Settings {
  const errors: string[] = [];
  const values = Object.entries(SETTINGS).map(([key, setting]) => [key, readValue(setting, environment, errors)]);
  const settings = group(Object.fromEntries(values) as Values, errors);
  if (!environment.BACKUP_DIR?.trim()) errors.push(...unusedBackupSettings(environment, errors));
  if (settings.databaseUrl === undefined && settings.replicaUrls?.length > 0) {
    errors.push('DATABASE_REPLICA_URL: this has no effect without DATABASE_URL, the server that the replicas follow');
  }
  if (errors.length > 0) throw new SettingsError(errors);
  return settings;
}

function readValue(setting: Declaration, environment: Environment, errors: string[]): unknown {
  const text = environment[setting.name]?.trim() || setting.default;
  try {
    return text === undefined ? undefined : setting.read(text);
  } catch (error) {
    errors.push(`${setting.name}: ${error instanceof Error ? error.message : String(error)}`);
    return undefined;
  }
}

/** Groups related values, and adds conflicts between settings to `errors`. */
function group(values: Values, errors: string[]): Settings {
  const {
    timeZone,
    reviewHours,
    votesPerNetwork,
    limitsOn,
    maxStreams,
    backupDir,
    backupEveryMs,
    backupKeep,
    webhookUrl,
    webhookSecrets,
    webhookAllowHttp,
    ...others
  } = values;
  // Port 0 selects another free port for each server, so two zeros do not conflict.
  if (others.metricsPort && others.metricsPort === others.port)
    errors.push('METRICS_PORT: this must not be the same port as PORT');
  return {
    ...(Object.fromEntries(Object.entries(others).filter(([key]) => !(key in LIMIT_SETTINGS))) as Others),
    launches: { timeZone, reviewHours, votesPerNetwork },
    page: { timeZone, votesPerNetwork, ...(others.submissions === 'moderated' && { hasSubmissions: true }) },
    rateLimits: limitsOn ? rateLimitsOf(values) : undefined,
    streamLimits: { perProcess: maxStreams, perNetwork: limitsOn ? values.streamsPerNetwork : undefined },
    backups:
      backupDir === undefined ? undefined : { folder: backupDir, intervalMs: backupEveryMs, maxBackups: backupKeep },
    webhooks: webhooksOf({ address: webhookUrl, secrets: webhookSecrets, allowHttp: webhookAllowHttp }, errors),
  };
}
