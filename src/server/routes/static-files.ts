import fastifyStatic from '@fastify/static';
import type { FastifyPluginAsync } from 'fastify';
import { paths } from '../../contract/paths.ts';
import { PICTURE_NAME } from '../../core/pictures/picture-store.ts';
import { REVALIDATE } from '../http/caching.ts';
import { addSecurityHeaders } from '../http/security-headers.ts';

export interface StaticFolders {
  /** The browser's build: `assets/` with content hashes in its names, and a few files with fixed names. */
  clientDir: string;
  /** The sample catalogue's pictures. */
  picturesDir: string;
  /** The site's own pictures, named by their content; the folder may be missing. Unset: there are none. */
  imagesDir?: string | undefined;
}

/** Files with fixed names, where browsers and the web app manifest look for them. */
const ICONS = [
  'favicon.svg',
  'favicon.ico',
  'apple-touch-icon.png',
  'icon-192.png',
  'icon-512.png',
  'icon-maskable-512.png',
] as const;

/** A picture is only ever shown: opened by itself, an SVG must not run anything. */
const PICTURE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; sandbox";

export const staticFiles: FastifyPluginAsync<StaticFolders> = async (
  app,
  { clientDir, picturesDir, imagesDir = '' },
) => {
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
  for (const name of ICONS) {
    app.get(`/${name}`, (_request, reply) => reply.sendFile(name, clientDir, { maxAge: '1d', immutable: false }));
  }

  // Asked for again and again, so that a new build is known at the first visit after it.
  app.get(paths.serviceWorker, (_request, reply) =>
    reply.header('Cache-Control', REVALIDATE).sendFile('service-worker.js', clientDir, { cacheControl: false }),
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
    // Not a folder as a whole: a picture that is being written lies there under another name.
    pictures.get<{ Params: { name: string } }>('/images/:name', (request, reply) => {
      const { name } = request.params;
      if (imagesDir === '' || !PICTURE_NAME.test(name)) return reply.callNotFound();
      return reply.sendFile(name, imagesDir, { maxAge: '1y', immutable: true });
    });
  });
};
