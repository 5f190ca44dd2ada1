import { createHash } from 'node:crypto';
import type { FastifyInstance } from 'fastify';

/**
 * Pages may load resources only from the site itself, except pictures, since a product's image may have any URL.
 */
function pagePolicy(scriptHash: string, styleHash: string | undefined): string {
  return [
    "default-src 'self'",
    `script-src 'self' '${scriptHash}'`,
    `style-src 'self'${styleHash === undefined ? '' : ` '${styleHash}'`}`,
    "img-src 'self' data: https: http:",
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'self'",
  ].join('; ');
}

/** Returns the hash of an inline script or style for the content security policy: 'sha256-…'. */
export function inlineHash(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}

/**
 * Returns the default security headers. The hashes allow the inline script of pages and the style of SITE_ACCENT.
 */
export function pageSecurityHeaders(scriptHash: string, styleHash?: string): Readonly<Record<string, string>> {
  return securityHeaders(pagePolicy(scriptHash, styleHash));
}

/** The policy of a picture that is opened as a page: the picture neither runs scripts nor loads other files. */
const EMBEDDED_PICTURE_POLICY = "default-src 'none'; frame-ancestors 'none'; sandbox";

/** Adds the headers to every response of `app`; a route may set its own policy. */
export function addSecurityHeaders(app: FastifyInstance, headers: Readonly<Record<string, string>>): void {
  app.addHook('onRequest', (_request, reply, done) => {
    reply.headers(headers);
    done();
  });
}

/**
 * Allows other sites to embed a picture, including sites that require `Cross-Origin-Resource-Policy`. `images` is the
 * CSP source from which an SVG may load pictures.
 */
export function allowEmbedding(app: FastifyInstance, images?: 'data:'): void {
  app.addHook('onRequest', (_request, reply, done) => {
    reply.headers({
      'content-security-policy':
        images === undefined ? EMBEDDED_PICTURE_POLICY : `${EMBEDDED_PICTURE_POLICY}; img-src ${images}`,
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
