/**
 * The URL paths of the site. The paths of the console, submissions, badges, files and the moderation log have their own
 * modules. Import this module as a namespace (`import * as paths`), so a bundle contains only the paths that it uses.
 */
import * as api from './paths/api.ts';
import { withId, withQuery } from './paths/api.ts';

export { api };

export const COMMENTS_HASH = '#comments';

export const home = '/';

/** The filters, the sort order and the cursor of the list on the home page. */
interface ListAddress {
  q?: string | undefined;
  tag?: string | undefined;
  sort?: string | undefined;
  /** The cursor of a later page, for reading without JavaScript. */
  cursor?: string | undefined;
}

export const list = ({ q, tag, sort, cursor }: ListAddress) => withQuery(home, { q, tag, sort, cursor });

export const product = /* @__PURE__ */ withId('/product/:id');

export const productComments = (id: string) => `${product(id)}${COMMENTS_HASH}`;

/** Returns the URL of a product's page with the comments after a cursor. */
export const commentsFrom = (id: string, cursor: string) =>
  `${product(id)}?comments=${encodeURIComponent(cursor)}${COMMENTS_HASH}`;

/** The home page with the dialog for submitting a product. */
export const submit = '/?submit';

/** The image of a product for link previews (Open Graph), 1200×630. */
export const card = /* @__PURE__ */ withId('/og/:id.png');

/** The image of a leaderboard for link previews, by its period. */
export const boardCard = /* @__PURE__ */ withId('/og/board/:id.png');

/** The image of the site for link previews. */
export const siteCard = '/og.png';

/** The feeds of the newest launches (Atom and JSON Feed), and of a product's comments (Atom). */
export const feed = '/feed.xml';
export const jsonFeed = '/feed.json';
export const commentsFeed = /* @__PURE__ */ withId('/product/:id/comments.xml');

/** The Atom feed of daily leaderboards, which lists the days with final results. */
export const leaderboardFeed = '/feed/leaderboards.xml';

export const sitemap = '/sitemap.xml';
/** A part of the sitemap of a large site. */
export const sitemapShard = /* @__PURE__ */ withId('/sitemap/:shard');
export const robots = '/robots.txt';

/** Returns the URL of the leaderboard of a day, an ISO week, a month or a year, starting at a cursor. */
export const board = (period: string, cursor?: string) => withQuery(home, { board: period, cursor });

/** The oEmbed response for the page at an absolute URL. */
export const oembed = /* @__PURE__ */ Object.assign(
  (url: string) => `/oembed?url=${encodeURIComponent(url)}&format=json`,
  { route: '/oembed' },
);

/** The health checks of the process and of its database. */
export const healthz = '/healthz';
export const readyz = '/readyz';

/** The icons, where browsers and the web app manifest expect them. */
export const icons = {
  svg: '/favicon.svg',
  ico: '/favicon.ico',
  appleTouch: '/apple-touch-icon.png',
  small: '/icon-192.png',
  large: '/icon-512.png',
  maskable: '/icon-maskable-512.png',
} as const;

export const manifest = '/manifest.webmanifest';
export const serviceWorker = '/service-worker.js';

/** The app shell: a document without page content. The service worker caches it for use offline. */
export const offlineShell = '/offline-shell';
