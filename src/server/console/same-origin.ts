import type { FastifyRequest } from 'fastify';
import { CoreError } from '../../core/core-error.ts';

const READING = new Set(['GET', 'HEAD']);

/**
 * Refuses requests from other sites, in addition to `SameSite=Strict`: by `Sec-Fetch-Site`, which no page can forge,
 * and in browsers without it by `Origin`. A change without either header is refused.
 * @throws CoreError `cross_origin`.
 */
export function requireSameOrigin({ method, headers }: FastifyRequest, siteUrl: string): void {
  const { origin, host } = headers;
  const site = headers['sec-fetch-site'];
  if (READING.has(method) && (site === undefined || site === 'none')) return;
  const isSame =
    site === undefined ? hostOf(origin) !== undefined && isOwn(origin, host, siteUrl) : site === 'same-origin';
  if (!isSame) throw new CoreError('cross_origin', 'The console accepts requests from its own pages only');
}

/** A forged `Host` does not help: a browser sends the host of the URL, and only the cookies of that host. */
function isOwn(origin: string | undefined, host: string | undefined, siteUrl: string): boolean {
  return hostOf(origin) === host || hostOf(origin) === hostOf(siteUrl);
}

function hostOf(origin: string | undefined): string | undefined {
  return origin !== undefined && URL.canParse(origin) ? new URL(origin).host : undefined;
}
