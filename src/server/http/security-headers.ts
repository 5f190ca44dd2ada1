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
  app.addHook('onRequest', async (_request, reply) => setSecurityHeaders(reply, options));
}

/** For an answer that no hook sees. */
export function setSecurityHeaders(
  reply: FastifyReply,
  { contentPolicy = PAGE_POLICY }: { contentPolicy?: string } = {},
): void {
  reply.headers({
    'Content-Security-Policy': contentPolicy,
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'strict-origin-when-cross-origin',
    'Cross-Origin-Opener-Policy': 'same-origin',
  });
}
