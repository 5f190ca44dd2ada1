import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { FastifyPluginAsync } from 'fastify';
import { paths } from '../../contract/paths.ts';
import { type Answer, PAGE_FRESHNESS } from '../cache/answer.ts';
import type { AnswerCache } from '../cache/answer-cache.ts';
import { sendFromCache } from '../cache/send-answer.ts';
import { REVALIDATE } from '../http/caching.ts';
import { REFERENCE_FILES, RENDERER_FILES, referencePage } from '../openapi/reference-page.ts';

interface Options {
  cache: AnswerCache;
  siteName: string;
}

const require = createRequire(import.meta.url);

/**
 * The API's description for people, by Swagger UI. It needs nothing that the site's content policy forbids, loads nothing from
 * elsewhere, and its files are read when somebody looks at the page: no other page names them.
 */
export const apiDocsRoutes: FastifyPluginAsync<Options> = async (app, { cache, siteName }) => {
  app.get(paths.api.reference, async (_request, reply) =>
    reply.type('text/html; charset=utf-8').header('Cache-Control', REVALIDATE).send(referencePage(siteName)),
  );

  app.get<{ Params: { file: string } }>(`${paths.api.reference}/:file`, (request, reply) => {
    const produce = producerOf(request.params.file);
    if (produce === undefined) return reply.callNotFound();
    const wanted = { key: `${paths.api.reference}/${request.params.file}`, freshness: PAGE_FRESHNESS, produce };
    return sendFromCache(cache, wanted, request, reply);
  });
};

function producerOf(name: string): (() => Promise<Answer>) | undefined {
  const own = Object.entries(REFERENCE_FILES).find(([each]) => each === name)?.[1];
  if (own !== undefined) return async () => fileAnswer(own.type, own.body);
  const type = Object.entries(RENDERER_FILES).find(([each]) => each === name)?.[1];
  if (type === undefined) return undefined;
  return async () => fileAnswer(type, await readFile(require.resolve(`swagger-ui-dist/${name}`), 'utf8'));
}

function fileAnswer(type: string, body: string): Answer {
  const reads = { products: [], catalogue: false, allCounts: false, unfinished: false };
  return { status: 200, type, cacheControl: REVALIDATE, body, reads };
}
