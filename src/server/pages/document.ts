import { paths } from '../../contract/paths.ts';
import type { RenderedPage } from '../../web/entry-server.tsx';
import { escapeHtml } from './escape-html.ts';
import { headTags } from './head-tags.ts';

/** The browser's files that a document names, as addresses. */
export interface ClientBuild {
  themeScript: string;
  appScript: string;
  styles: readonly string[];
  /** Chunks that the app script imports at once. */
  modulePreloads: readonly string[];
  /** Chunks of a route's own, which the app script would ask for only once it runs. */
  routePreloads: Partial<Record<RenderedPage['route'], readonly string[]>>;
  fonts: readonly string[];
}

/** Writes the document around a rendered page. */
export function renderDocument(page: RenderedPage, build: ClientBuild): string {
  const head = [
    '<meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    '<meta name="color-scheme" content="light dark">',
    '<meta name="theme-color" media="(prefers-color-scheme: light)" content="#ffffff">',
    '<meta name="theme-color" media="(prefers-color-scheme: dark)" content="#0d2030">',
    ...headTags(page),
    '<link rel="icon" href="/favicon.ico" sizes="32x32">',
    '<link rel="icon" href="/favicon.svg" type="image/svg+xml">',
    '<link rel="apple-touch-icon" href="/apple-touch-icon.png">',
    `<link rel="manifest" href="${paths.manifest}">`,
    ...build.fonts.map((href) => `<link rel="preload" href="${href}" as="font" type="font/woff2" crossorigin>`),
    ...build.styles.map((href) => `<link rel="stylesheet" href="${href}">`),
    // Blocks the first paint on purpose: a remembered theme must not flash the other one.
    `<script src="${build.themeScript}"></script>`,
    page.preloadImage === undefined
      ? ''
      : `<link rel="preload" href="${escapeHtml(page.preloadImage)}" as="image" fetchpriority="high">`,
    ...[...build.modulePreloads, ...(build.routePreloads[page.route] ?? [])].map(
      (href) => `<link rel="modulepreload" href="${href}">`,
    ),
    `<script type="module" src="${build.appScript}"></script>`,
  ];
  return `<!doctype html>
<html lang="en">
<head>
${head.filter((line) => line !== '').join('\n')}
</head>
<body>
<div id="root">${page.html}</div>
<script type="application/json" id="state">${page.state}</script>
</body>
</html>
`;
}
