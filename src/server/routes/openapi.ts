import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { FastifyPluginAsync } from 'fastify';
import * as paths from '../../contract/paths.ts';
import type { Brand } from '../../settings/brand.ts';
import { type CacheableResponse, constantResponse, PAGE_FRESHNESS } from '../cache/cached-response.ts';
import type { ResponseCache } from '../cache/response-cache.ts';
import { sendFromCache } from '../cache/send-cached.ts';
import { REVALIDATE } from '../http/cache-control.ts';
import type { SiteIdentity } from '../http/site-identity.ts';
import { type ApiRoute, openApiDocument } from '../openapi/document.ts';
import type { Operation } from '../openapi/parts.ts';
import { brandStyle, escapeHtml, iconLinks } from '../pages/document.ts';

interface Options {
  cache: ResponseCache;
  site: SiteIdentity;
  version: string;
  /** The routes of the API. The list is complete only after all routes have been registered. */
  apiRoutes: readonly ApiRoute[];
}

/** Serves the OpenAPI document. It is built on request, because the site's URL is not known earlier. */
export const openApiRoutes: FastifyPluginAsync<Options> = async (app, { cache, site, version, apiRoutes }) => {
  const produce = async () =>
    constantResponse('application/json; charset=utf-8', JSON.stringify(openApiDocument(apiRoutes, site, version)));
  const wanted = { key: paths.api.openApi, freshness: PAGE_FRESHNESS, produce };
  app.get(paths.api.openApi, { config: { operation: OPERATIONS.getOpenApi } }, (request, reply) =>
    sendFromCache(cache, wanted, request, reply),
  );
};

interface ReferenceOptions {
  cache: ResponseCache;
  siteName: string;
  brand: Brand;
}

const require = createRequire(import.meta.url);

/**
 * The API reference, rendered by Swagger UI. It works under the site's content security policy, and loads no files from
 * other sites. No other page loads the files of Swagger UI.
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
  if (own !== undefined) return async () => constantResponse(own.type, own.body);
  const type = Object.entries(RENDERER_FILES).find(([each]) => each === name)?.[1];
  if (type === undefined) return undefined;
  return async () => constantResponse(type, await readFile(require.resolve(`swagger-ui-dist/${name}`), 'utf8'));
}

/** The files of the reference page that are not part of Swagger UI. */
const REFERENCE_FILES = {
  /** The content security policy forbids inline scripts. */
  'start.js': {
    type: 'text/javascript; charset=utf-8',
    body: `SwaggerUIBundle({
  url: ${JSON.stringify(paths.api.openApi)},
  dom_id: '#reference',
  deepLinking: true,
  docExpansion: 'list',
  // A validator would send the URL of the OpenAPI document to another server.
  validatorUrl: null,
});

// Adds the labels and roles that Swagger UI lacks, each time it has rendered.
const reference = document.getElementById('reference');
const set = (selector, name, value) => {
  for (const element of reference.querySelectorAll(selector)) {
    if (!element.hasAttribute(name)) element.setAttribute(name, typeof value === 'function' ? value(element) : value);
  }
};
function addLabels() {
  set('.information-container, .scheme-container', 'role', 'region');
  set('.information-container', 'aria-label', 'About this API');
  set('.scheme-container', 'aria-label', 'Server');
  set('section.models, section.schemes', 'aria-label', (section) => section.className.split(' ')[0]);
  // The title has heading level 1, so the sections below it begin with level 2.
  for (const [index, names] of ['h2:not(.title), h3', 'h4', 'h5'].entries()) set(names, 'aria-level', String(index + 2));
  set('select', 'aria-label', (select) => select.closest('[data-param-name]')?.dataset.paramName || 'Choice');
  set('pre', 'tabindex', '0');
  // Links inside buttons are not accessible, and the button does the same.
  for (const link of reference.querySelectorAll('button a[href]')) link.removeAttribute('href');
}
new MutationObserver(addLabels).observe(reference, { childList: true, subtree: true });
addLabels();
`,
  },
  /**
   * Runs in the head, so the page is never shown in the wrong theme first. The storage key is that of the site's theme
   * switch.
   */
  'theme.js': {
    type: 'text/javascript; charset=utf-8',
    body: `const dark = matchMedia('(prefers-color-scheme: dark)');
function show() {
  let theme;
  try {
    theme = localStorage.getItem('theme');
  } catch {
    // Without storage, the page follows the theme of the system.
  }
  const isDark = theme === 'dark' || (theme !== 'light' && dark.matches);
  document.documentElement.dataset.theme = isDark ? 'dark' : 'light';
  // Swagger UI uses this class for its dark theme.
  document.documentElement.classList.toggle('dark-mode', isDark);
}
show();
dark.addEventListener('change', show);
`,
  },
  'page.css': {
    type: 'text/css; charset=utf-8',
    body: `/* The tokens of the site's pages that this page needs. */
:root {
  color-scheme: light dark;
  --paper: light-dark(#f7f9f8, #071521);
  --surface: light-dark(#ffffff, #0d2030);
  --ink: light-dark(#0a2135, #e8f0f4);
  --ink-soft: light-dark(#3b5064, #b3c4d1);
  --line: light-dark(#d9e2e4, #1e3649);
  --sea: light-dark(#075e68, #78d5d3);
}
:root[data-theme="light"] { color-scheme: light; }
:root[data-theme="dark"] { color-scheme: dark; }
body { margin: 0; background: var(--paper); color: var(--ink); font-family: system-ui, sans-serif; }
html.dark-mode body, html.dark-mode .swagger-ui { background: var(--paper); }
.site { border-bottom: 1px solid var(--line); background: var(--surface); }
.site-bar { display: flex; max-width: 1460px; min-height: 3.5rem; box-sizing: border-box; align-items: center; justify-content: space-between; gap: 1rem; margin: 0 auto; padding: 0 1.25rem; }
.site a { color: var(--sea); }
.site .brand { display: inline-flex; min-height: 2.75rem; align-items: center; gap: 0.625rem; color: var(--ink); font-size: 1.25rem; font-weight: 700; text-decoration: none; }
.brand img { object-fit: contain; }
/* Long content breaks or scrolls, so the page fits a phone. */
.swagger-ui { overflow-wrap: anywhere; }
.swagger-ui table { overflow-wrap: break-word; }
.swagger-ui .wrapper { box-sizing: border-box; }
/* Colours with a contrast of at least 4.5 to 1, in both themes. */
.swagger-ui :is(a, .info a, .info .url, a.nostyle:hover) { color: var(--sea) !important; }
.swagger-ui a.nostyle { color: inherit !important; }
.swagger-ui .info .title small { background: #3b5064; }
.swagger-ui .info .title small.version-stamp { background: #0b6e4f; }
.swagger-ui .info .title small pre { color: #fff; }
html .swagger-ui .scheme-container { background: var(--surface); box-shadow: none; border-block: 1px solid var(--line); }
.swagger-ui .opblock .opblock-summary-method { background: #075e68 !important; color: #fff !important; text-shadow: none; }
.swagger-ui .opblock.opblock-post .opblock-summary-method { background: #0b6e4f !important; }
.swagger-ui .opblock.opblock-put .opblock-summary-method { background: #8a4b00 !important; }
.swagger-ui .opblock.opblock-patch .opblock-summary-method { background: #5d3a8a !important; }
.swagger-ui .opblock.opblock-delete .opblock-summary-method { background: #b3261e !important; }
.swagger-ui :is(.parameter__in, .parameter__type, .parameter__name, .response-col_status, .header-col, .opblock-summary-description, .parameter__extension, .prop-format) { color: var(--ink) !important; }
.swagger-ui :is(p, .markdown, .renderedMarkdown, li) code { background: light-dark(#e0f1f0, #10323c) !important; color: light-dark(#064e57, #a6e6e3) !important; }
.swagger-ui :is(pre, pre code, .microlight):not(.version) { background: #071521 !important; }
.swagger-ui .btn.execute { border-color: #075e68; background: #075e68; color: #fff; }
.swagger-ui .btn.cancel { border-color: currentcolor; color: light-dark(#b3261e, #ffb4ab); }
.swagger-ui .download-contents { background: #3b5064; color: #fff; }
.swagger-ui .json-schema-2020-12-expand-deep-button, .swagger-ui .json-schema-2020-12 button { color: var(--ink-soft) !important; }
@media (max-width: 40rem) {
  .swagger-ui .wrapper { padding-inline: 0.75rem; }
  .swagger-ui .opblock-tag { flex-wrap: wrap; }
  .swagger-ui .responses-inner, .swagger-ui .table-container { overflow-x: auto; padding: 0.75rem; }
  .swagger-ui .parameters-col_description input { max-width: 100%; }
  /* This column is always empty. */
  .swagger-ui .response-col_links { display: none; }
}
:focus-visible { outline: 3px solid var(--sea); outline-offset: 2px; }
`,
  },
} as const;

/** Files of Swagger UI, by their names in its package. */
const RENDERER_FILES = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
} as const;

/** Returns the human-readable API reference. */
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
<script src="${below}theme.js"></script>
</head>
<body>
<header class="site"><div class="site-bar">
<a class="brand" href="${paths.home}"><img src="${brand.page.logo ?? paths.icons.svg}" alt="" width="32" height="32">${escapeHtml(siteName)}</a>
<a href="${paths.api.openApi}">OpenAPI</a>
</div></header>
<div id="reference"></div>
<noscript><main>This page needs JavaScript. The OpenAPI document does not: <a href="${paths.api.openApi}">${paths.api.openApi}</a></main></noscript>
<script src="${below}swagger-ui-bundle.js"></script>
<script src="${below}start.js"></script>
</body>
</html>
`;
}

/** The OpenAPI metadata of these routes. */
const OPERATIONS = {
  getOpenApi: {
    id: 'getOpenApi',
    tag: 'Reference',
    summary: 'Get the OpenAPI document',
    isCacheable: true,
    responses: { 200: { description: 'An OpenAPI 3.1 document', content: { type: 'application/json' } } },
    problems: ['bad_request'],
  },
  getReference: {
    id: 'getReference',
    tag: 'Reference',
    summary: 'Get the API reference',
    isCacheable: true,
    responses: { 200: { description: 'An HTML page', content: { type: 'text/html' } } },
    problems: ['bad_request'],
  },
} satisfies Record<string, Operation>;
