import { isLoopback, readSwitch } from './read-value.ts';

/** The receiver of webhooks. */
export interface WebhookSettings {
  /** The receiver's URL, without user and password. */
  url: string;
  /** The `Authorization` header with the URL's user name and password; undefined if the URL has none. */
  authorization: string | undefined;
  /** The decoded secrets. Events are signed with each, so a receiver may use the old or new one during a rotation. */
  secrets: readonly Uint8Array[];
}

const SHAPE = 'it must look like https://hooks.example/groundswell';

/** The validated URL of a receiver. */
interface WebhookAddress extends Pick<WebhookSettings, 'url' | 'authorization'> {
  /** Whether events would be sent to another machine without encryption. */
  isExposed: boolean;
}

/** Reads the URL of the receiver. It may contain a secret, so error messages never repeat it. */
function readWebhookUrl(text: string): WebhookAddress {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) throw new Error(`this is not an https URL; ${SHAPE}`);
  if (url.hash !== '') throw new Error('this has a fragment, which is never sent; remove the part after #');
  const authorization = authorizationOf(url);
  url.username = '';
  url.password = '';
  return { url: url.href, authorization, isExposed: url.protocol === 'http:' && !isLoopback(url.hostname) };
}

function authorizationOf({ username, password }: URL): string | undefined {
  if (username === '' && password === '') return undefined;
  try {
    const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
    return `Basic ${Buffer.from(credentials).toString('base64')}`;
  } catch {
    throw new Error('the user name or password has an incomplete escape; write % as %25');
  }
}

const SECRET_BYTES = { min: 24, max: 64 } as const;
const MAX_SECRETS = 4;

/** Reads `whsec_` secrets of Standard Webhooks, separated by spaces. Error messages never contain a secret. */
function readWebhookSecrets(text: string): Uint8Array[] {
  const secrets = text.split(/\s+/).map(readSecret);
  if (secrets.length > MAX_SECRETS) throw new Error(`this has more than ${MAX_SECRETS} secrets`);
  return secrets;
}

function readSecret(text: string): Uint8Array {
  const base64 = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(text)?.[1] ?? '';
  const bytes = Buffer.from(base64, 'base64');
  if (bytes.toString('base64') !== base64 || bytes.length < SECRET_BYTES.min || bytes.length > SECRET_BYTES.max) {
    throw new Error(
      `each secret must be whsec_ followed by the base64 of ${SECRET_BYTES.min} to ${SECRET_BYTES.max} bytes, such as the output of \`echo whsec_$(openssl rand -base64 32)\``,
    );
  }
  return bytes;
}

export const WEBHOOK_SETTINGS = {
  webhookUrl: {
    name: 'WEBHOOK_URL',
    default: undefined,
    read: readWebhookUrl,
    about: 'URL that receives [webhooks](webhooks.md)',
  },
  webhookSecrets: {
    name: 'WEBHOOK_SECRET',
    default: undefined,
    read: readWebhookSecrets,
    about: 'Secrets that sign webhooks (`whsec_…`), separated by spaces',
  },
  webhookAllowHttp: {
    name: 'WEBHOOK_ALLOW_HTTP',
    default: 'off',
    read: readSwitch,
    about: '`on` permits a plain HTTP `WEBHOOK_URL` on another machine',
  },
} as const;

interface Given {
  address: WebhookAddress | undefined;
  secrets: Uint8Array[] | undefined;
  allowHttp: boolean;
}

/**
 * Combines the settings of webhooks, and adds conflicts to `errors`, except for settings that already have an error.
 */
export function webhooksOf({ address, secrets, allowHttp }: Given, errors: string[]): WebhookSettings | undefined {
  const hasError = (name: string) => errors.some((error) => error.startsWith(`${name}: `));
  if (address === undefined) {
    if (secrets !== undefined && !hasError('WEBHOOK_URL')) {
      errors.push('WEBHOOK_SECRET: this has no effect without WEBHOOK_URL, the URL that receives the events');
    }
    return undefined;
  }
  const { isExposed, ...receiver } = address;
  if (isExposed && !allowHttp) {
    errors.push('WEBHOOK_URL: this is not encrypted; use https, or set WEBHOOK_ALLOW_HTTP=on in a private network');
  }
  if (secrets !== undefined) return { ...receiver, secrets };
  if (!hasError('WEBHOOK_SECRET')) {
    errors.push('WEBHOOK_SECRET: WEBHOOK_URL requires a secret; `echo whsec_$(openssl rand -base64 32)` prints one');
  }
  return undefined;
}
