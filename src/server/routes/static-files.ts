import fastifyStatic from '@fastify/static';
import type { FastifyPluginAsync } from 'fastify';
import { addSecurityHeaders } from '../http/security-headers.ts';

export interface StaticFolders {
  /** The browser's build: `assets/` with content hashes in its names, and a few files with fixed names. */
  clientDir: string;
  /** The sample catalogue's pictures. */
  picturesDir: string;
}

/** A picture is only ever shown: opened by itself, an SVG must not run anything. */
const PICTURE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox";

export const staticFiles: FastifyPluginAsync<StaticFolders> = async (app, { clientDir, picturesDir }) => {
  await app.register(fastifyStatic, {
    root: `${clientDir}/assets`,
    prefix: '/assets/',
    preCompressed: true,
    immutable: true,
    maxAge: '1y',
    index: false,
    redirect: false,
    setHeaders: (response) => response.setHeader('Vary', 'Accept-Encoding'),
  });
  app.get('/favicon.svg', (_request, reply) =>
    reply.sendFile('favicon.svg', clientDir, { maxAge: '1d', immutable: false }),
  );

  await app.register(async (pictures) => {
    addSecurityHeaders(pictures, { contentPolicy: PICTURE_POLICY });
    await pictures.register(fastifyStatic, {
      root: picturesDir,
      prefix: '/pictures/',
      decorateReply: false,
      maxAge: '1d',
      index: false,
      redirect: false,
    });
  });
};
