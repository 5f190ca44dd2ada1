import { VOTES_PER_NETWORK } from '../../contract/limits.ts';
import { moderationLog } from '../../contract/paths/moderation-log.ts';
import * as paths from '../../contract/paths.ts';
import { withLanguage } from '../../contract/routes.ts';
import { type Brand, NO_BRAND } from '../../settings/brand.ts';
import { inLanguage, localAddress, plural, type RenderedPage, t } from '../../web/entry-server.tsx';
import { CARD_SIZE } from '../cards/renderer/card-renderer.ts';
import type { ClientBuild } from './client-build.ts';

/** Returns the document around a rendered page. */
export function renderDocument(page: RenderedPage, build: ClientBuild, brand: Brand = NO_BRAND): string {
  return inLanguage(page.language, () => documentOf(page, build, brand));
}

function documentOf(page: RenderedPage, build: ClientBuild, brand: Brand): string {
  const { route, language } = page;
  const messages = language?.script ? [language.script] : [];
  const modules = route && [...build.modulePreloads, ...(build.routePreloads[route] ?? []), ...messages];
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
    `<script${modules ? ` data-app="${build.appScript}" data-modules="${modules.join(' ')}" data-voted="${escapeHtml(t('Remove upvote'))}"` : ''}>${build.headScript}</script>`,
    ...headTags(page),
    ...iconLinks(brand),
    `<link rel="manifest" href="${paths.manifest}">`,
  ];
  return `<!doctype html>
<html lang="${language?.tag ?? 'en'}"${language?.dir ? ` dir="${language.dir}"` : ''}>
<head>
${head.filter((line) => line !== '').join('\n')}
</head>
<body>
<div id="root">${page.html}</div>
${siteLinks(page)}${route ? `<script type="application/json" id="state">${page.state}</script>\n` : ''}</body>
</html>
`;
}

/**
 * Returns the operator's style, which must follow the styles of the build. The content security policy allows it by its
 * hash.
 */
export function brandStyle({ style }: Brand): string {
  return style === undefined ? '' : `<style>${style}</style>`;
}

/** Returns the links to the site's icons. Apple's systems accept only PNG files. */
export function iconLinks({ logo }: Brand): string[] {
  if (logo === undefined) {
    return [
      `<link rel="icon" href="${paths.icons.ico}" sizes="32x32">`,
      `<link rel="icon" href="${paths.icons.svg}" type="image/svg+xml">`,
      `<link rel="apple-touch-icon" href="${paths.icons.appleTouch}">`,
    ];
  }
  const touch = logo.mediaType === 'image/png' ? [`<link rel="apple-touch-icon" href="${logo.address}">`] : [];
  return [`<link rel="icon" href="${logo.address}" type="${logo.mediaType}">`, ...touch];
}

/**
 * Returns the footer of every page: links to other pages, and an explanation of the ranking. It is outside the app, so
 * the browser needs no code for it.
 */
export function siteLinks({
  site: { name, today, hasSubmissions, hasModerationLog, votesPerNetwork = VOTES_PER_NETWORK },
  languages = [],
  language,
  path = paths.home,
}: RenderedPage): string {
  const links = [
    ...(today ? [[localAddress(paths.board(today)), t('Today’s ranking')]] : []),
    ...(hasSubmissions ? [[localAddress(paths.submit), t('Submit your product')]] : []),
    ...(hasModerationLog ? [[localAddress(moderationLog()), t('Moderation log')]] : []),
    [paths.feed, 'RSS'],
    [paths.api.reference, 'API'],
  ];
  const lines = [
    t('The list shows the newest launches first. Leaderboards rank them by votes.'),
    t('Every launch gets 24 hours from the minute it goes live, in any time zone.'),
    t('Votes cast in these 24 hours count. Launches with equal counts share a rank.'),
    plural(
      'At most {count} vote from one network counts for a launch. No address is stored.',
      'At most {count} votes from one network count for a launch. No address is stored.',
      votesPerNetwork,
    ),
    t('The tally of each day is open: anyone can download every vote and recompute the result.'),
  ];
  return `<div class="site-links">
<nav aria-label="${escapeHtml(t('More of this site'))}">${links.map(([href = '', label = '']) => `<a href="${escapeHtml(href)}">${escapeHtml(label)}</a>`).join('')}</nav>
<details class="about"><summary><u>${escapeHtml(t('About the ranking'))}</u></summary>
<section aria-label="${escapeHtml(t('How {site} ranks launches', { site: name }))}"><ul>${lines.map((line) => `<li>${escapeHtml(line)}</li>`).join('')}</ul></section>
</details>
${languageLinks(languages, path, language)}</div>
`;
}

/** Returns links to the same page in each language. After client-side navigation, the app updates them. */
function languageLinks(
  languages: NonNullable<RenderedPage['languages']>,
  path: string,
  language: RenderedPage['language'],
): string {
  if (languages.length < 2) return '';
  const links = languages.map(({ tag, name, param }) => {
    const current = tag === (language?.tag ?? 'en') ? ' aria-current="true"' : '';
    return `<a href="${escapeHtml(withLanguage(path, param))}" hreflang="${tag}" lang="${tag}"${current}>${escapeHtml(name)}</a>`;
  });
  return `<nav class="site-languages" aria-label="${escapeHtml(t('Language'))}">${links.join('')}</nav>\n`;
}

/** Returns the metadata of a rendered page, as elements of the head. */
function headTags(page: RenderedPage): string[] {
  const { title, description, canonical, noindex, site } = page;
  return [
    `<title>${escapeHtml(title)}</title>`,
    named('description', description),
    noindex ? named('robots', 'noindex') : '',
    canonical === undefined ? '' : `<link rel="canonical" href="${escapeHtml(site.url + localAddress(canonical))}">`,
    ...(canonical === undefined ? [] : languageTags(site.url, canonical, page.languages ?? [])),
    ...previewTags(page),
    ...(page.alternates ?? []).map(
      ({ type, path, title: name }) =>
        `<link rel="alternate" type="${type}" title="${escapeHtml(name)}" href="${escapeHtml(site.url + path)}">`,
    ),
    // Browsers do not execute this data block, so the content security policy does not apply.
    page.structuredData === undefined ? '' : `<script type="application/ld+json">${page.structuredData}</script>`,
  ];
}

/**
 * Returns the tags that tell search engines the URL of the page in each language, and the default for other languages.
 */
function languageTags(siteUrl: string, path: string, languages: NonNullable<RenderedPage['languages']>): string[] {
  if (languages.length < 2) return [];
  const link = (tag: string, param?: string) =>
    `<link rel="alternate" hreflang="${tag}" href="${escapeHtml(siteUrl + withLanguage(path, param))}">`;
  return [...languages.map(({ tag, param }) => link(tag, param)), link('x-default')];
}

/** Returns the metadata for link previews. A page without a card has no preview. */
function previewTags({ title, description, canonical, card, site }: RenderedPage): string[] {
  if (card === undefined) return [];
  return [
    property('og:type', 'website'),
    property('og:site_name', site.name),
    property('og:title', title),
    property('og:description', description),
    canonical === undefined ? '' : property('og:url', site.url + localAddress(canonical)),
    property('og:image', site.url + card.path),
    property('og:image:type', 'image/png'),
    property('og:image:width', String(CARD_SIZE.width)),
    property('og:image:height', String(CARD_SIZE.height)),
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
