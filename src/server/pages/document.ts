import { LIMITS } from '../../contract/limits.ts';
import { paths } from '../../contract/paths.ts';
import { type Brand, NO_BRAND } from '../../settings/brand.ts';
import type { RenderedPage } from '../../web/entry-server.tsx';

/** The browser's files that a document names, as addresses. */
export interface ClientBuild {
  /** The script that is inlined into the head. */
  headScript: string;
  appScript: string;
  styles: readonly string[];
  /** Chunks that the app script imports statically. */
  modulePreloads: readonly string[];
  /** Further chunks of a route, which the app script would request only once it runs. */
  routePreloads: Partial<Record<NonNullable<RenderedPage['route']>, readonly string[]>>;
  fonts: readonly string[];
}

/** Writes the document around a rendered page. */
export function renderDocument(page: RenderedPage, build: ClientBuild, brand: Brand = NO_BRAND): string {
  const { route } = page;
  const modules = route && [...build.modulePreloads, ...(build.routePreloads[route] ?? [])];
  const head = [
    '<meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    // Resources for the first paint come first.
    ...build.styles.map((href) => `<link rel="stylesheet" href="${href}">`),
    brandStyle(brand),
    ...build.fonts.map((href) => `<link rel="preload" href="${href}" as="font" type="font/woff2" crossorigin>`),
    page.preloadImage === undefined
      ? ''
      : `<link rel="preload" href="${escapeHtml(page.preloadImage)}" as="image" fetchpriority="high">`,
    '<meta name="color-scheme" content="light dark">',
    '<meta name="theme-color" media="(prefers-color-scheme: light)" content="#ffffff">',
    '<meta name="theme-color" media="(prefers-color-scheme: dark)" content="#0d2030">',
    `<script${modules ? ` data-app="${build.appScript}" data-modules="${modules.join(' ')}"` : ''}>${build.headScript}</script>`,
    ...headTags(page),
    ...iconLinks(brand),
    `<link rel="manifest" href="${paths.manifest}">`,
  ];
  return `<!doctype html>
<html lang="en">
<head>
${head.filter((line) => line !== '').join('\n')}
</head>
<body>
<div id="root">${page.html}</div>
${siteLinks(page)}${route ? `<script type="application/json" id="state">${page.state}</script>\n` : ''}</body>
</html>
`;
}

/** After the styles of the build; its hash is in the content security policy. */
export function brandStyle({ style }: Brand): string {
  return style === undefined ? '' : `<style>${style.css}</style>`;
}

/** Apple's systems take PNG files only. */
export function iconLinks({ logo }: Brand): string[] {
  if (logo === undefined) {
    return [
      '<link rel="icon" href="/favicon.ico" sizes="32x32">',
      '<link rel="icon" href="/favicon.svg" type="image/svg+xml">',
      '<link rel="apple-touch-icon" href="/apple-touch-icon.png">',
    ];
  }
  const touch = logo.mediaType === 'image/png' ? [`<link rel="apple-touch-icon" href="${logo.address}">`] : [];
  return [`<link rel="icon" href="${logo.address}" type="${logo.mediaType}">`, ...touch];
}

/** The end of every page: links to what the site offers, and how its ranking works. Beside the app, which needs no code for it. */
export function siteLinks({
  siteName,
  today,
  hasModerationLog,
  hasSubmissions,
  votesPerNetwork,
}: RenderedPage): string {
  const links = [
    ...(today ? [[paths.board(today), 'Today’s ranking']] : []),
    ...(hasSubmissions ? [[paths.submit, 'Submit your product']] : []),
    ...(hasModerationLog ? [[paths.moderationLog(), 'Moderation log']] : []),
    [paths.feed, 'RSS'],
    [paths.api.reference, 'API'],
  ];
  const lines = [
    'The list shows the newest launches first. Leaderboards rank them by votes.',
    'Every launch has the same 24 hours, from the minute it goes live, whatever its time zone.',
    'Votes cast in these 24 hours count. Launches with equally many share a rank.',
    `At most ${votesPerNetwork ?? LIMITS.votesPerNetwork} votes for a launch count from one network. No address is stored.`,
    'The tally of each day is open: anyone can download every vote and recompute the result.',
  ];
  return `<div class="site-links">
<nav aria-label="More of this site">${links.map(([href = '', label]) => `<a href="${escapeHtml(href)}">${label}</a>`).join('')}</nav>
<details class="about"><summary><u>About the ranking</u></summary>
<section aria-label="How ${escapeHtml(siteName)} ranks launches"><ul>${lines.map((line) => `<li>${line}</li>`).join('')}</ul></section>
</details>
</div>
`;
}

/** The size that `/og/:id.png` and `/og.png` have. */
const CARD = { width: 1200, height: 630 } as const;

/** The metadata of a rendered page, as elements of the head. */
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
    // A block of data, which browsers do not execute, so the content policy does not apply.
    page.structuredData === undefined ? '' : `<script type="application/ld+json">${page.structuredData}</script>`,
  ];
}

/** For link previews. A page that is not indexed has no preview. */
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

const ESCAPES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** Makes text safe inside an element or a quoted attribute. */
export function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ESCAPES[character] ?? character);
}
