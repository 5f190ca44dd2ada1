import type { FastifyError, FastifyInstance, FastifyRequest } from 'fastify';
import {
  PICTURE_TOO_LARGE,
  PICTURE_UPLOADS,
  type PictureMediaType,
  type PictureUse,
} from '../../contract/products/picture-uploads.ts';
import { CoreError } from '../../core/core-error.ts';
import type { PicturePipeline, PictureSlot } from '../../core/pictures/picture-store.ts';
import { clientDisconnected, requireConnected } from '../http/connections.ts';
import { endSlowBody } from '../http/server-limits.ts';
import { networkPrefix } from '../limits/network-keys.ts';

/** Processes the picture in the body of a request. @returns its URL on the site. @throws CoreError */
type ReceivePicture = (request: FastifyRequest, use: PictureUse) => Promise<string>;

interface Admitted {
  slot: PictureSlot;
  declaredType: PictureMediaType;
  signal: AbortSignal;
}

/**
 * Accepts the bytes of a picture as the body of every route in this scope. After all `onRequest` hooks, the disk space
 * is checked and a slot in the pipeline is reserved. This happens before the body is received, so the picture of a
 * refused request is never in memory.
 */
export function receivePictures(app: FastifyInstance, pipeline: PicturePipeline): ReceivePicture {
  const admitted = new WeakMap<FastifyRequest, Admitted>();
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: PICTURE_UPLOADS.maxBytes }, (_request, body, done) =>
    done(null, body),
  );
  app.setErrorHandler<FastifyError>((error) => {
    const isTooLarge = error.code === 'FST_ERR_CTP_BODY_TOO_LARGE';
    if (!isTooLarge) throw error;
    throw new CoreError('body_too_large', PICTURE_TOO_LARGE);
  });
  app.addHook('preParsing', async (request, reply) => {
    const declaredType = requireMediaType(request);
    await pipeline.requireDiskSpace();
    requireConnected(reply);
    const slot = pipeline.admit(Buffer.from(networkPrefix(request.ip)).toString('hex'), () =>
      endSlowBody(app.server, request.raw),
    );
    const disconnected = new AbortController();
    admitted.set(request, { slot, declaredType, signal: disconnected.signal });
    reply.raw.once('close', () => {
      slot.release();
      disconnected.abort(clientDisconnected());
    });
  });
  return async (request, use) => {
    const picture = admitted.get(request);
    if (picture === undefined) throw new Error('The route is outside the scope that receives pictures');
    const { slot, declaredType, signal } = picture;
    const bytes = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
    return slot.process({ bytes, declaredType, use }, signal);
  };
}

/** Returns the declared type of a picture. @throws CoreError if pictures of this type or encoding are not accepted. */
function requireMediaType({ headers }: FastifyRequest): PictureMediaType {
  const declared = headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase();
  const type = declared === 'image/jpg' ? 'image/jpeg' : declared;
  const accepted = PICTURE_UPLOADS.mediaTypes.find((each) => each === type);
  if (accepted === undefined) {
    throw new CoreError(
      'unsupported_media_type',
      'Please send a PNG, JPEG, WebP, AVIF or GIF with its Content-Type, such as image/png.',
    );
  }
  const coding = headers['content-encoding']?.trim().toLowerCase() || 'identity';
  if (coding !== 'identity')
    throw new CoreError('unsupported_media_type', 'Send the picture without Content-Encoding.');
  return accepted;
}
