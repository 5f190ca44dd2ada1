import * as paths from './paths.ts';

/**
 * The web app's screens with the query parameters that affect each, in canonical order. The server and the service
 * worker use this list to remove other parameters from URLs.
 */
export const ROUTES = {
  home: { parameters: ['q', 'tag', 'sort', 'cursor', 'lang'] },
  board: { parameters: ['board', 'cursor', 'lang'] },
  product: { parameters: ['comments', 'lang'] },
  notFound: { parameters: ['lang'] },
} as const satisfies Record<string, { parameters: readonly string[] }>;

export type RouteName = keyof typeof ROUTES;

type RouteMatch =
  | { name: 'home' }
  | { name: 'board'; period: string }
  | { name: 'product'; id: string }
  | { name: 'notFound' };

/**
 * Returns whether a normalized path has no query parameter except the language. The number of such pages is limited, so
 * the response cache stores them separately from pages with arbitrary queries.
 */
export function hasOnlyLanguageParam(path: string): boolean {
  return /^[^?]*(?:\?lang=[^&]*)?$/.test(path);
}

/** Adds a language to a URL of this site: `/product/git#comments` → `/product/git?lang=de#comments`. */
export function withLanguage(address: string, code: string | null | undefined): string {
  return code ? address.replace(/#|$/, `${address.includes('?') ? '&' : '?'}lang=${code}$&`) : address;
}

const PRODUCT_PATH = /^\/product\/([^/]+)$/;

/** Returns the screen for a path and query. Case and a trailing slash are significant. Does not validate periods. */
export function matchRoute(pathname: string, search: string | URLSearchParams = ''): RouteMatch {
  if (pathname === paths.home) {
    const period = new URLSearchParams(search).get('board');
    return period ? { name: 'board', period } : { name: 'home' };
  }
  const id = decode(PRODUCT_PATH.exec(pathname)?.[1] ?? '');
  return id ? { name: 'product', id } : { name: 'notFound' };
}

/**
 * Returns whether a URL selects the moderation log, if the site publishes one. The log has the path of the home page,
 * but its document does not load the browser app. A URL that also names a period selects a leaderboard instead.
 */
export function isModerationLog(pathname: string, query: URLSearchParams): boolean {
  return pathname === paths.home && query.has('log') && !query.get('board');
}

/**
 * Decodes percent-encoding. Returns an empty string for an incomplete escape, such as `%E0`, because the server has no
 * page for such a path.
 */
function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return '';
  }
}
