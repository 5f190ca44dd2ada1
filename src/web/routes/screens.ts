import type { RouteName } from '../../contract/routes.ts';
import { type LazyScreen, lazyScreen } from '../routing/lazy-screen.tsx';

/** The code of each route, in its own chunk. */
export const SCREENS: Record<RouteName, LazyScreen> = {
  home: lazyScreen(() => import('./home/home.tsx').then((module) => module.Home)),
  board: lazyScreen(() => import('./board/board.tsx').then((module) => module.BoardScreen)),
  product: lazyScreen(() => import('./product/product.tsx').then((module) => module.ProductScreen)),
  notFound: lazyScreen(() => import('./not-found/not-found.tsx').then((module) => module.NotFound)),
};
