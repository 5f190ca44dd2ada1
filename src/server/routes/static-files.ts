import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import fastifyStatic from '@fastify/static';
import type { FastifyError, FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
import { FOLDERS } from '../../contract/paths/folders.ts';
import * as paths from '../../contract/paths.ts';
import { taglineOf } from '../../contract/site.ts';
import { openRegularFile } from '../../core/file-system.ts';
import { mediaTypeOf, PICTURE_NAME } from '../../core/pictures/picture-store.ts';
import type { Logo } from '../../settings/logo.ts';
import { constantResponse, PAGE_FRESHNESS } from '../cache/cached-response.ts';
import type { ResponseCache } from '../cache/response-cache.ts';
import { sendFromCache } from '../cache/send-cached.ts';
import { REVALIDATE } from '../http/cache-control.ts';
import { matchesEntityTag } from '../http/representations.ts';
import { addSecurityHeaders, inlineHash, securityHeaders } from '../http/security-headers.ts';
import type { PageRenderer } from '../pages/pages.ts';

export interface StaticFolders {
  /** The client build: `assets/` with content hashes in the file names, and a few files with fixed names. */
  clientDir: string;
  /** The sample catalogue's pictures. */
  picturesDir: string;
  /** The folder of the site's own pictures, which are named by content hash. The folder may be missing or unset. */
  imagesDir?: string | undefined;
}

/** The policy for pictures: an SVG that is opened directly must not run scripts. */
const PICTURE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; sandbox";

export const staticFiles: FastifyPluginAsync<StaticFolders & { logo: Logo | undefined }> = async (
  app,
  { clientDir, picturesDir, imagesDir = '', logo },
) => {
  hideRefusals(app);
  await app.register(fastifyStatic, {
    root: `${clientDir}/assets`,
    prefix: FOLDERS.assets,
    preCompressed: true,
    immutable: true,
    maxAge: '1y',
    // Files are small, and parsing a hostile `Range` header takes quadratic time.
    acceptRanges: false,
    index: false,
    redirect: false,
    setHeaders: (response) => response.setHeader('Vary', 'Accept-Encoding'),
  });
  for (const path of Object.values(paths.icons)) {
    app.get(path, (_request, reply) => reply.sendFile(path.slice(1), clientDir, { maxAge: '1d', immutable: false }));
  }

  await app.register(async (pictures) => {
    addSecurityHeaders(pictures, securityHeaders(PICTURE_POLICY));
    await pictures.register(fastifyStatic, {
      root: picturesDir,
      prefix: FOLDERS.pictures,
      decorateReply: false,
      maxAge: '1d',
      acceptRanges: false,
      index: false,
      redirect: false,
    });
    if (logo) {
      pictures.get(logo.address, (request, reply) =>
        prepareImmutable(basename(logo.address), request, reply)
          ? reply.code(304).send()
          : reply.type(logo.mediaType).send(logo.bytes),
      );
    }
    // The folder is not served as a whole, because it also holds temporary files of pictures that are being written.
    pictures.get<{ Params: { name: string } }>(`${FOLDERS.images}:name`, async (request, reply) => {
      const { name } = request.params;
      const isPicture = imagesDir !== '' && PICTURE_NAME.test(name);
      const file = isPicture ? await openRegularFile(join(imagesDir, name)) : undefined;
      if (file === undefined) return reply.callNotFound();
      if (prepareImmutable(name, request, reply)) {
        await file.close();
        return reply.code(304).send();
      }
      reply.header('Content-Length', (await file.stat()).size);
      return reply.type(mediaTypeOf(name)).send(file.createReadStream());
    });
  });
};

/** Sets the headers of a file whose name contains a hash of its content. @returns whether the client has the file. */
function prepareImmutable(name: string, { headers }: FastifyRequest, reply: FastifyReply): boolean {
  const tag = `"${name}"`;
  reply.header('Cache-Control', 'public, max-age=31536000, immutable').header('ETag', tag);
  return matchesEntityTag(headers['if-none-match'], tag);
}

/** Responds with 404 to requests for folders and for URLs outside the root of the files. */
export function hideRefusals(app: FastifyInstance): void {
  app.setErrorHandler<FastifyError>((error, _request, reply) => {
    if (error.statusCode === undefined || error.statusCode >= 500) throw error;
    return reply.callNotFound();
  });
}

/** The files that make the site installable and readable offline. */
export const webAppRoutes: FastifyPluginAsync<{
  clientDir: string;
  cache: ResponseCache;
  renderer: PageRenderer;
}> = async (app, { clientDir, cache, renderer }) => {
  app.get(paths.manifest, async (_request, reply) => {
    reply.type('application/manifest+json; charset=utf-8').header('Cache-Control', REVALIDATE);
    return JSON.stringify(webAppManifest(renderer));
  });

  // Browsers cache the shell again only if the service worker has changed, which they check at each visit. The service
  // worker therefore contains the digest of the shell, which changes with each build and settings such as SITE_NAME.
  let digest: string | undefined;
  const digestOf = () => (digest ??= inlineHash(renderer.shell(0)));

  // During a rolling restart, a process of another build may respond, so the service worker requests the shell by its
  // digest.
  const produce = async () => constantResponse('text/html; charset=utf-8', renderer.shell());
  const shell = { key: paths.offlineShell, freshness: PAGE_FRESHNESS, produce };
  app.get<{ Querystring: { digest?: unknown } }>(paths.offlineShell, (request, reply) => {
    const { digest: wanted } = request.query;
    if (wanted !== undefined && wanted !== digestOf()) return reply.callNotFound();
    return sendFromCache(cache, shell, request, reply);
  });

  const worker = {
    key: paths.serviceWorker,
    freshness: PAGE_FRESHNESS,
    async produce() {
      const script = await readFile(join(clientDir, 'service-worker.js'), 'utf8');
      return constantResponse('text/javascript; charset=utf-8', `const SHELL_DIGEST = '${digestOf()}';\n${script}`);
    },
  };
  app.get(paths.serviceWorker, (request, reply) => sendFromCache(cache, worker, request, reply));
};

/**
 * Returns the web app manifest, with which browsers install the site. The background colour is that of the light
 * theme in tokens.css; without SITE_ACCENT, the theme colour is that of the icon.
 */
function webAppManifest({
  site,
  languages,
  brand: { logo, accent },
}: Pick<PageRenderer, 'site' | 'languages' | 'brand'>): object {
  const { tag, dir = 'ltr' } = languages.of(paths.home);
  return {
    id: paths.home,
    name: site.name,
    short_name: site.name,
    description: taglineOf(site),
    lang: tag,
    dir,
    start_url: paths.home,
    scope: '/',
    display: 'standalone',
    background_color: '#f7f9f8',
    theme_color: accent?.light.sun ?? '#0c3b54',
    categories: ['productivity', 'news'],
    icons: logo
      ? [{ src: logo.address, sizes: logo.sizes, type: logo.mediaType }]
      : [
          { src: paths.icons.small, sizes: '192x192', type: 'image/png' },
          { src: paths.icons.large, sizes: '512x512', type: 'image/png' },
          { src: paths.icons.maskable, sizes: '512x512', type: 'image/png', purpose: 'maskable' },
          { src: paths.icons.svg, sizes: 'any', type: 'image/svg+xml' },
        ],
  };
}
