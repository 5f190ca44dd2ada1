import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { FastifyPluginAsync } from 'fastify';
import { paths } from '../../contract/paths.ts';
import type { Brand } from '../../settings/brand.ts';
import { type CacheableResponse, PAGE_FRESHNESS } from '../cache/cached-response.ts';
import type { ResponseCache } from '../cache/response-cache.ts';
import { sendFromCache } from '../cache/send-cached.ts';
import type { SiteIdentity } from '../feeds/site-identity.ts';
import { REVALIDATE } from '../http/problems.ts';
import { type ApiRoute, openApiDocument } from '../openapi/document.ts';
import type { Operation } from '../openapi/parts.ts';
import { brandStyle, escapeHtml, iconLinks } from '../pages/document.ts';

interface Options {
  site: SiteIdentity;
  version: string;
  /** All API routes, once every route is registered. */
  apiRoutes: readonly ApiRoute[];
}

/** The OpenAPI document; built on the first request, since only then the site's address is known. */
export const openApiRoutes: FastifyPluginAsync<Options> = async (app, { site, version, apiRoutes }) => {
  let made: { url: string; body: string } | undefined;

  app.get(paths.api.description, { config: { operation: OPERATIONS.getOpenApi } }, async (_request, reply) => {
    const url = site.url();
    if (made?.url !== url) made = { url, body: JSON.stringify(openApiDocument(apiRoutes, site, version)) };
    return reply.type('application/json; charset=utf-8').header('Cache-Control', REVALIDATE).send(made.body);
  });
};

interface ReferenceOptions {
  cache: ResponseCache;
  siteName: string;
  brand: Brand;
}

const require = createRequire(import.meta.url);

/**
 * The API reference, by Swagger UI. It works under the site's content policy, loads no foreign files, and its files are
 * loaded on this page only.
 */
export const apiDocsRoutes: FastifyPluginAsync<ReferenceOptions> = async (app, { cache, siteName, brand }) => {
  app.get(paths.api.reference, { config: { operation: OPERATIONS.getReference } }, async (_request, reply) =>
    reply.type('text/html; charset=utf-8').header('Cache-Control', REVALIDATE).send(referencePage(siteName, brand)),
  );

  app.get<{ Params: { file: string } }>(`${paths.api.reference}/:file`, (request, reply) => {
    const produce = producerOf(request.params.file);
    if (produce === undefined) return reply.callNotFound();
    const wanted = { key: `${paths.api.reference}/${request.params.file}`, freshness: PAGE_FRESHNESS, produce };
    return sendFromCache(cache, wanted, request, reply);
  });
};

function producerOf(name: string): (() => Promise<CacheableResponse>) | undefined {
  const own = Object.entries(REFERENCE_FILES).find(([each]) => each === name)?.[1];
  if (own !== undefined) return async () => fileResponse(own.type, own.body);
  const type = Object.entries(RENDERER_FILES).find(([each]) => each === name)?.[1];
  if (type === undefined) return undefined;
  return async () => fileResponse(type, await readFile(require.resolve(`swagger-ui-dist/${name}`), 'utf8'));
}

function fileResponse(type: string, body: string): CacheableResponse {
  const dependencies = { products: [], catalogue: false, allCounts: false, unfinished: false };
  return { status: 200, type, cacheControl: REVALIDATE, body, dependencies };
}

/** Our own files of the reference page. */
const REFERENCE_FILES = {
  /** The content security policy forbids inline scripts. */
  'start.js': {
    type: 'text/javascript; charset=utf-8',
    body: `SwaggerUIBundle({
  url: ${JSON.stringify(paths.api.description)},
  dom_id: '#reference',
  deepLinking: true,
  docExpansion: 'list',
  // Would send the address of the description to another server.
  validatorUrl: null,
});
`,
  },
  'page.css': {
    type: 'text/css; charset=utf-8',
    body: `body { margin: 0; background: #fff; color: #3b4151; font-family: system-ui, sans-serif; }
.back { display: block; max-width: 1460px; margin: 0 auto; padding: 1rem 1.25rem 0; box-sizing: border-box; }
.back a { color: #0b5c8a; }
/* Long content breaks or scrolls, so the page fits a phone. */
.swagger-ui { overflow-wrap: anywhere; }
.swagger-ui table { overflow-wrap: break-word; }
.swagger-ui .wrapper { box-sizing: border-box; }
@media (max-width: 40rem) {
  .swagger-ui .wrapper { padding-inline: 0.75rem; }
  .swagger-ui .opblock-tag { flex-wrap: wrap; }
  .swagger-ui .responses-inner, .swagger-ui .table-container { overflow-x: auto; padding: 0.75rem; }
  .swagger-ui .parameters-col_description input { max-width: 100%; }
  /* Always empty. */
  .swagger-ui .response-col_links { display: none; }
}
`,
  },
} as const;

/** Files of Swagger UI, by their names in its package. */
const RENDERER_FILES = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
} as const;

/** The API reference for people. */
function referencePage(siteName: string, brand: Brand): string {
  const below = `${paths.api.reference}/`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>API reference – ${escapeHtml(siteName)}</title>
${iconLinks(brand).join('\n')}
<link rel="stylesheet" href="${below}swagger-ui.css">
<link rel="stylesheet" href="${below}page.css">
${brandStyle(brand)}
</head>
<body>
<p class="back"><a href="/">${escapeHtml(siteName)}</a></p>
<main id="reference"><noscript>This page needs JavaScript. The same, for programs: <a href="${paths.api.description}">${paths.api.description}</a></noscript></main>
<script src="${below}swagger-ui-bundle.js"></script>
<script src="${below}start.js"></script>
</body>
</html>
`;
}

/** Their description, beside the schemas. */
const OPERATIONS = {
  getOpenApi: {
    id: 'getOpenApi',
    tag: 'Reference',
    summary: 'This description, for programs',
    isCacheable: true,
    responses: { 200: { description: 'An OpenAPI 3.1 document', content: { type: 'application/json' } } },
    problems: ['bad_request'],
  },
  getReference: {
    id: 'getReference',
    tag: 'Reference',
    summary: 'This description, for people',
    isCacheable: true,
    responses: { 200: { description: 'A page', content: { type: 'text/html' } } },
    problems: ['bad_request'],
  },
} satisfies Record<string, Operation>;
