import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import type { PicturePipeline } from '../../../core/pictures/picture-store.ts';
import { receivePictures } from '../../pictures/receive-pictures.ts';

const Params = Type.Object({ use: Type.Union([Type.Literal('image'), Type.Literal('screenshot')]) });

/**
 * Stores a picture for a product's editor. No page shows it until an edit saves its address, so replacing a picture is
 * audited, undone and validated like every other edit. A picture that no edit mentions is deleted after a day.
 */
export const pictureRoutes: FastifyPluginAsyncTypebox<{ pictures: PicturePipeline }> = async (app, { pictures }) => {
  const receive = receivePictures(app, pictures);
  app.post('/api/console/pictures/:use', { schema: { params: Params } }, async (request, reply) => {
    const address = await receive(request, request.params.use);
    return reply.code(201).send({ address });
  });
};
