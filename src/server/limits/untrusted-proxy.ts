import type { FastifyInstance } from 'fastify';
import type { TrustedProxies } from '../../settings/trusted-proxies.ts';

/**
 * Says once that somebody forwards requests whose word does not count: limits then take all visitors behind it for one.
 * The address is not named, since it may as well be a visitor's that made the header up.
 */
export function warnOfUntrustedProxy(app: FastifyInstance, isTrusted: TrustedProxies | undefined): void {
  let warned = false;
  app.addHook('onRequest', async (request) => {
    if (warned || request.headers['x-forwarded-for'] === undefined) return;
    if (isTrusted?.(request.socket.remoteAddress ?? '')) return;
    warned = true;
    request.log.warn(
      'A request with X-Forwarded-For came from an address that TRUST_PROXY does not name, so that the header was ignored. ' +
        'If it came through your proxy, set TRUST_PROXY to its address: otherwise one proxy looks like one visitor.',
    );
  });
}
