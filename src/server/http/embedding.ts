import type { FastifyInstance } from 'fastify';

/** A picture by itself runs nothing and loads nothing, also where somebody opens it as a page. */
const POLICY = "default-src 'none'; frame-ancestors 'none'; sandbox";

/** For pictures that are made to stand in other people's pages, whatever those demand of what they embed. */
export function allowEmbedding(app: FastifyInstance): void {
  app.addHook('onRequest', (_request, reply, done) => {
    reply.headers({
      'content-security-policy': POLICY,
      'cross-origin-resource-policy': 'cross-origin',
      'access-control-allow-origin': '*',
    });
    done();
  });
}
