import { type Finding, fault, ok, warning } from '../core/doctor/finding.ts';
import type { Settings } from '../settings/settings.ts';

const REACH_MS = 3_000;

/** Whether links that leave the site lead back to it. */
export async function checkSiteUrl({ siteUrl }: Settings): Promise<Finding> {
  const check = 'SITE_URL';
  if (siteUrl === undefined) {
    return warning(
      check,
      'it is not set, so that feeds, cards and other links name the address that the server listens on',
      'Set it to the origin that visitors see, such as https://launches.example.',
    );
  }
  const { protocol, hostname } = new URL(siteUrl);
  if (protocol === 'http:' && !isThisMachine(hostname))
    return warning(
      check,
      `${siteUrl} is not encrypted`,
      'Put a proxy with TLS in front of the site, and set SITE_URL to its https address.',
    );
  const status = await statusOf(`${siteUrl}/healthz`);
  if (status !== '200')
    return warning(
      check,
      `${siteUrl}/healthz cannot be reached from here (${status})`,
      'Check the name, the proxy and its certificate, unless the site is meant to be away.',
    );
  return ok(check, `${siteUrl} answers`);
}

/** Whether the site runs here. That it does not is no fault: a command may be run before it is started. */
export async function checkSite({ host, port }: Settings): Promise<Finding> {
  const name = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  const address = `http://${name.includes(':') ? `[${name}]` : name}:${port}`;
  const status = await statusOf(`${address}/readyz`);
  if (status === '200') return ok('site', `it runs at ${address}`);
  if (status === '503')
    return fault(
      'site',
      `it runs at ${address}, and its database does not answer it`,
      'Look at the database, and at the log of the site.',
    );
  return ok('site', `it does not run at ${address}`);
}

/** Whether visitors behind a proxy are told apart. */
export function checkProxyTrust({ siteUrl, trustProxy, host, rateLimits }: Settings): Finding {
  const check = 'TRUST_PROXY';
  const isBehindProxy = siteUrl?.startsWith('https:') ?? false;
  if (isBehindProxy && trustProxy === undefined && rateLimits) {
    return fault(
      check,
      'it is not set, and an https site has a proxy in front of it: all visitors look like one and share its limits',
      'Set it to the address of the proxy, such as loopback for one on this machine.',
    );
  }
  if (trustProxy && !isThisMachine(host) && trustProxy('127.0.0.1') && host !== '127.0.0.1') {
    return warning(
      check,
      `a proxy is trusted, and HOST=${host} lets visitors pass it by`,
      'Set HOST=127.0.0.1 where the proxy is on this machine, or let a firewall keep others away.',
    );
  }
  return ok(check, trustProxy ? 'set' : 'nobody is trusted, and no proxy is known of');
}

function isThisMachine(host: string): boolean {
  return host === 'localhost' || host === '::1' || host === '[::1]' || host.startsWith('127.');
}

/** The status of an answer, or what went wrong. */
async function statusOf(address: string): Promise<string> {
  try {
    const response = await fetch(address, { signal: AbortSignal.timeout(REACH_MS), redirect: 'manual' });
    await response.body?.cancel();
    return String(response.status);
  } catch (error) {
    const cause = error instanceof Error ? (error.cause ?? error) : error;
    return cause instanceof Error && 'code' in cause ? String(cause.code) : 'no answer';
  }
}
