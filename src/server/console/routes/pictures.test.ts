import Fastify, { type FastifyInstance } from 'fastify';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { handleError, validateByContract } from '../../http/error-handler.ts';
import { pictureRoutes } from './products.ts';

let app: FastifyInstance;
beforeEach(async () => {
  app = Fastify();
  app.setErrorHandler(handleError);
  validateByContract(app);
  const pictures = {
    requireDiskSpace: async () => {},
    admit: () => ({ process: async ({ use }: { use: string }) => `/images/${use}.webp`, release() {} }),
  };
  await app.register(pictureRoutes, { pictures });
});
afterEach(() => app.close());

const post = (use: string, type = 'image/png') =>
  app.inject({
    method: 'POST',
    url: `/api/console/pictures/${use}`,
    payload: Buffer.from('x'),
    headers: { 'content-type': type },
  });

test.each(['image', 'screenshot'])('the response to the upload of a picture as %s contains its URL', async (use) => {
  const response = await post(use);
  expect(response.statusCode).toBe(201);
  expect(response.json()).toEqual({ address: `/images/${use}.webp` });
});

test('an unknown use and a file of another type are refused', async () => {
  expect((await post('avatar')).statusCode).toBe(400);
  expect((await post('image', 'application/json')).statusCode).toBe(415);
});
