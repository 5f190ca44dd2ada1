import { matchPath } from 'react-router';
import { type LazyRoute, lazyRoute } from '../lib/lazy-route.tsx';

export type RouteName = 'home' | 'product' | 'notFound';

interface TableRow {
  name: RouteName;
  path: string;
  route: LazyRoute;
}

/** Every screen of the site. The last row takes what the others leave. */
export const ROUTES: readonly [TableRow, TableRow, TableRow] = [
  { name: 'home', path: '/', route: lazyRoute(() => import('./home/home.tsx').then(({ Home }) => Home)) },
  {
    name: 'product',
    path: '/product/:id',
    route: lazyRoute(() => import('./product/product.tsx').then(({ ProductScreen }) => ProductScreen)),
  },
  {
    name: 'notFound',
    path: '*',
    route: lazyRoute(() => import('./not-found/not-found.tsx').then(({ NotFound }) => NotFound)),
  },
];

/** The row for a path, and the parameters in it. An address is taken as it is written: neither case nor a slash at its end is overlooked. */
export function matchRoute(pathname: string): TableRow & { params: Record<string, string | undefined> } {
  const hasSlashAtEnd = pathname.length > 1 && pathname.endsWith('/');
  for (const row of ROUTES) {
    const match = matchPath({ path: row.path, caseSensitive: true }, pathname);
    if (match && !hasSlashAtEnd) return { ...row, params: decoded(match.params) };
  }
  return { ...ROUTES[2], params: {} };
}

/** As the screens get them from the router: the bare match leaves them encoded. */
function decoded(params: Record<string, string | undefined>): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(params).map(([name, value]) => [name, value && decode(value)]));
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
