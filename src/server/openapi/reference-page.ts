import { paths } from '../../contract/paths.ts';
import { escapeHtml } from '../pages/escape-html.ts';

/** Files of ours that the reference page loads beside those of its renderer. */
export const REFERENCE_FILES = {
  /** An inline script is what the site's content policy forbids. */
  'start.js': {
    type: 'text/javascript; charset=utf-8',
    body: `SwaggerUIBundle({
  url: ${JSON.stringify(paths.api.description)},
  dom_id: '#reference',
  deepLinking: true,
  docExpansion: 'list',
  // Would send the address of the description to a server elsewhere.
  validatorUrl: null,
});
`,
  },
  'page.css': {
    type: 'text/css; charset=utf-8',
    body: `body { margin: 0; background: #fff; color: #3b4151; font-family: system-ui, sans-serif; }
.back { display: block; max-width: 1460px; margin: 0 auto; padding: 1rem 1.25rem 0; box-sizing: border-box; }
.back a { color: #0b5c8a; }
/* What is long breaks or scrolls by itself: the page fits a phone. */
.swagger-ui { overflow-wrap: anywhere; }
.swagger-ui table { overflow-wrap: break-word; }
.swagger-ui .wrapper { box-sizing: border-box; }
@media (max-width: 40rem) {
  .swagger-ui .wrapper { padding-inline: 0.75rem; }
  .swagger-ui .opblock-tag { flex-wrap: wrap; }
  .swagger-ui .responses-inner, .swagger-ui .table-container { overflow-x: auto; padding: 0.75rem; }
  .swagger-ui .parameters-col_description input { max-width: 100%; }
  /* Says of every answer that it has none. */
  .swagger-ui .response-col_links { display: none; }
}
`,
  },
} as const;

/** Files of the renderer (Swagger UI), as its package has them. */
export const RENDERER_FILES = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
} as const;

/** The page on which a browser shows the API's description. */
export function referencePage(siteName: string): string {
  const below = `${paths.api.reference}/`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>API reference – ${escapeHtml(siteName)}</title>
<link rel="icon" href="/favicon.svg" type="image/svg+xml">
<link rel="stylesheet" href="${below}swagger-ui.css">
<link rel="stylesheet" href="${below}page.css">
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
