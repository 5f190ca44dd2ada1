import type { FastifyError, FastifyInstance, FastifyRequest } from 'fastify';
import { PICTURE_UPLOADS } from '../../contract/products/picture-uploads.ts';
import { CoreError } from '../../core/core-error.ts';
import type { PicturePipeline, PictureSlot, PictureUse } from '../../core/pictures/picture-store.ts';
import { clientDisconnected, requireConnected } from '../http/connections.ts';
import { endSlowBody } from '../http/server-limits.ts';
import { networkPrefix } from '../limits/network-keys.ts';

/** Processes the picture in the body of a request. @returns its URL on the site. @throws CoreError */
type ReceivePicture = (request: FastifyRequest, use: PictureUse) => Promise<string>;

/**
 * Accepts the bytes of a picture as the body of every route in this scope. Disk space is checked and a slot in the
 * pipeline is reserved after all `onRequest` hooks and before the body is received, so the picture of a refused request
 * is never in memory.
 */
export function receivePictures(app: FastifyInstance, pipeline: PicturePipeline): ReceivePicture {
  const admitted = new WeakMap<FastifyRequest, { slot: PictureSlot; signal: AbortSignal }>();
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: PICTURE_UPLOADS.maxBytes }, (_request, body, done) =>
    done(null, body),
  );
  app.setErrorHandler<FastifyError>((error) => {
    const isTooLarge = error.code === 'FST_ERR_CTP_BODY_TOO_LARGE';
    throw isTooLarge ? new CoreError('body_too_large', 'The file is larger than 5 MiB.') : error;
  });
  app.addHook('preParsing', async (request, reply) => {
    expectPicture(request);
    await pipeline.requireDiskSpace();
    requireConnected(reply);
    const slot = pipeline.admit(Buffer.from(networkPrefix(request.ip)).toString('hex'), () =>
      endSlowBody(app.server, request.raw),
    );
    const gone = new AbortController();
    admitted.set(request, { slot, signal: gone.signal });
    reply.raw.once('close', () => {
      slot.release();
      gone.abort(clientDisconnected());
    });
  });
  return async (request, use) => {
    const { slot, signal } = admitted.get(request) ?? {};
    if (slot === undefined) throw new Error('The route is outside the scope that receives pictures');
    const bytes = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
    return slot.process({ bytes, declaredType: mediaTypeOf(request), use }, signal);
  };
}

function expectPicture(request: FastifyRequest): void {
  const type = mediaTypeOf(request);
  if (!PICTURE_UPLOADS.mediaTypes.some((accepted) => accepted === type)) {
    throw new CoreError(
      'unsupported_media_type',
      'Please send a PNG, JPEG, WebP, AVIF or GIF with its Content-Type, such as image/png.',
    );
  }
  const coding = request.headers['content-encoding']?.trim().toLowerCase() || 'identity';
  if (coding !== 'identity')
    throw new CoreError('unsupported_media_type', 'Send the picture without Content-Encoding.');
}

function mediaTypeOf({ headers }: FastifyRequest): string | undefined {
  const type = headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase();
  return type === 'image/jpg' ? 'image/jpeg' : type;
}
