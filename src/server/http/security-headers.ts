import type { FastifyInstance } from 'fastify';

/**
 * Everything comes from the site itself; only pictures may come from anywhere, since a product's image may be any URL.
 */
function pagePolicy(scriptHash: string): string {
  return [
    "default-src 'self'",
    `script-src 'self' '${scriptHash}'`,
    "style-src 'self'",
    "img-src 'self' data: https:",
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'self'",
  ].join('; ');
}

/** The headers of every response. `scriptHash` allows the one inline script of pages. */
export function pageSecurityHeaders(scriptHash: string): Readonly<Record<string, string>> {
  return securityHeaders(pagePolicy(scriptHash));
}

/** A picture opened as a page neither runs nor loads anything. */
const PICTURE_POLICY = "default-src 'none'; frame-ancestors 'none'; sandbox";

/** Adds them to every response of `app`; a route may set its own policy. */
export function addSecurityHeaders(app: FastifyInstance, headers: Readonly<Record<string, string>>): void {
  app.addHook('onRequest', (_request, reply, done) => {
    reply.headers(headers);
    done();
  });
}

/** For pictures that are made to be embedded in other sites, including those that require this header. */
export function allowEmbedding(app: FastifyInstance): void {
  app.addHook('onRequest', (_request, reply, done) => {
    reply.headers({
      'content-security-policy': PICTURE_POLICY,
      'cross-origin-resource-policy': 'cross-origin',
      'access-control-allow-origin': '*',
    });
    done();
  });
}

export function securityHeaders(contentPolicy: string): Readonly<Record<string, string>> {
  return {
    'content-security-policy': contentPolicy,
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'strict-origin-when-cross-origin',
    'cross-origin-opener-policy': 'same-origin',
  };
}
