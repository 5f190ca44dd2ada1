import type { RenderedPage } from '../../web/entry-server.tsx';
import { escapeHtml } from './escape-html.ts';

/** The size that `/og/:id.png` and `/og.png` have. */
const CARD = { width: 1200, height: 630 } as const;

/** What a rendered page says about itself, as elements of the head. */
export function headTags(page: RenderedPage): string[] {
  const { title, description, canonical, noindex, siteUrl } = page;
  return [
    `<title>${escapeHtml(title)}</title>`,
    named('description', description),
    noindex ? named('robots', 'noindex') : '',
    canonical === undefined ? '' : `<link rel="canonical" href="${escapeHtml(siteUrl + canonical)}">`,
    ...previewTags(page),
    ...(page.alternates ?? []).map(
      ({ type, path, title: name }) =>
        `<link rel="alternate" type="${type}" title="${escapeHtml(name)}" href="${escapeHtml(siteUrl + path)}">`,
    ),
    // A block of data, which no browser runs, so that the content policy has nothing to say about it.
    page.structuredData === undefined ? '' : `<script type="application/ld+json">${page.structuredData}</script>`,
  ];
}

/** For what shows a preview of a link. A page that is not to be found has nothing to preview. */
function previewTags({ title, description, canonical, card, siteName, siteUrl }: RenderedPage): string[] {
  if (card === undefined) return [];
  return [
    property('og:type', 'website'),
    property('og:site_name', siteName),
    property('og:title', title),
    property('og:description', description),
    canonical === undefined ? '' : property('og:url', siteUrl + canonical),
    property('og:image', siteUrl + card.path),
    property('og:image:type', 'image/png'),
    property('og:image:width', String(CARD.width)),
    property('og:image:height', String(CARD.height)),
    property('og:image:alt', card.alt),
    named('twitter:card', 'summary_large_image'),
  ];
}

function named(name: string, content: string): string {
  return `<meta name="${name}" content="${escapeHtml(content)}">`;
}

function property(name: string, content: string): string {
  return `<meta property="${name}" content="${escapeHtml(content)}">`;
}
