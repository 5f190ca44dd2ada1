import type { FastifyInstance, FastifyRequest } from 'fastify';
import { CoreError } from '../../core/core-error.ts';

/**
 * Takes JSON bodies only. Broken UTF-8 is refused rather than repaired, since what is stored must be what was sent; an
 * empty body counts as none, because many clients name the media type on requests that carry nothing.
 */
export function acceptJsonOnly(app: FastifyInstance): void {
  const parseJson = app.getDefaultJsonParser('error', 'error');
  const utf8 = new TextDecoder('utf-8', { fatal: true });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    if (body.length === 0) return done(null, undefined);
    if (!isPlainUtf8(request)) {
      return done(
        new CoreError('unsupported_media_type', 'Send the body as application/json in UTF-8, not compressed'),
      );
    }
    let text: string;
    try {
      text = utf8.decode(body as Buffer);
    } catch {
      return done(new CoreError('bad_request', 'The body is not valid UTF-8'));
    }
    parseJson(request, text, done);
  });
}

function isPlainUtf8({ headers }: FastifyRequest): boolean {
  const coding = headers['content-encoding']?.trim().toLowerCase() || 'identity';
  const charset = /;\s*charset="?([^\s;"]+)/i.exec(headers['content-type'] ?? '')?.[1]?.toLowerCase() ?? 'utf-8';
  return coding === 'identity' && (charset === 'utf-8' || charset === 'utf8');
}
