import { paths } from './paths.ts';

/**
 * Every screen of the site, with the query parameters that change it, in their order in canonical addresses. The
 * server cleans addresses by this list; the browser's router and the service worker match paths by it.
 */
export const ROUTES = {
  home: { parameters: ['q', 'tag', 'sort', 'cursor', 'lang'] },
  board: { parameters: ['board', 'cursor', 'lang'] },
  product: { parameters: ['comments', 'lang'] },
  notFound: { parameters: ['lang'] },
} as const satisfies Record<string, { parameters: readonly string[] }>;

export type RouteName = keyof typeof ROUTES;

export type RouteMatch =
  | { name: 'home' }
  | { name: 'board'; period: string }
  | { name: 'product'; id: string }
  | { name: 'notFound' };

/** A cleaned address without parameters but the language: as many as the site has pages in all its languages. */
export function isPlainPath(path: string): boolean {
  return /^[^?]*(?:\?lang=[^&]*)?$/.test(path);
}

const PRODUCT_PATH = /^\/product\/([^/]+)$/;

/** The screen of a path and its query. Case and a trailing slash matter. The period may be invalid. */
export function matchRoute(pathname: string, search: string | URLSearchParams = ''): RouteMatch {
  if (pathname === paths.home) {
    const period = new URLSearchParams(search).get('board');
    return period ? { name: 'board', period } : { name: 'home' };
  }
  const id = PRODUCT_PATH.exec(pathname)?.[1];
  return id === undefined ? { name: 'notFound' } : { name: 'product', id: decode(id) };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // An incomplete escape, e.g. `%E0`, names no product, and must not break the page.
    return text;
  }
}
