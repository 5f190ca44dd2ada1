import { paths } from '../../contract/paths.ts';

/** What a system needs to know to keep the site beside its applications. The colours are those of tokens.css by day. */
export function webAppManifest(siteName: string): object {
  return {
    id: paths.home,
    name: siteName,
    short_name: siteName,
    description: 'The place to discover and launch innovative tech products. Explore the wave.',
    lang: 'en',
    dir: 'ltr',
    start_url: paths.home,
    scope: '/',
    display: 'standalone',
    background_color: '#f7f9f8',
    theme_color: '#0c3b54',
    categories: ['productivity', 'news'],
    icons: [
      { src: '/icon-192.png', sizes: '192x192', type: 'image/png' },
      { src: '/icon-512.png', sizes: '512x512', type: 'image/png' },
      { src: '/icon-maskable-512.png', sizes: '512x512', type: 'image/png', purpose: 'maskable' },
      { src: '/favicon.svg', sizes: 'any', type: 'image/svg+xml' },
    ],
  };
}
