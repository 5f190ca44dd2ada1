import type { FastifyInstance, FastifyReply } from 'fastify';

/** Everything comes from the site itself; only pictures may come from anywhere, since a product's image is any address. */
const PAGE_POLICY = [
  "default-src 'self'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: https:",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'self'",
].join('; ');

/** Puts the same protective headers on every answer; a route may set its own policy. */
export function addSecurityHeaders(app: FastifyInstance, options: { contentPolicy?: string } = {}): void {
  const headers = securityHeaders(options.contentPolicy ?? PAGE_POLICY);
  app.addHook('onRequest', (_request, reply, done) => {
    reply.headers(headers);
    done();
  });
}

/** For an answer that no hook sees. */
export function setSecurityHeaders(reply: FastifyReply): void {
  reply.headers(securityHeaders(PAGE_POLICY));
}

function securityHeaders(contentPolicy: string): Readonly<Record<string, string>> {
  return {
    'content-security-policy': contentPolicy,
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'strict-origin-when-cross-origin',
    'cross-origin-opener-policy': 'same-origin',
  };
}
