import { type QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { Suspense } from 'react';
import { matchRoute, type RouteName } from '../contract/routes.ts';
import type { Site } from '../contract/site.ts';
import { ApiProvider, type AppApi } from './api/api-context.tsx';
import { Layout } from './routes/layout/layout.tsx';
import { SiteContext } from './routing/document-head.ts';
import { type LazyScreen, lazyScreen, ScreenView } from './routing/lazy-screen.tsx';
import { NavigationProvider } from './routing/navigation.tsx';
import { useLocation } from './routing/router.tsx';
import { ErrorBoundary } from './ui/error-boundary.tsx';
import { NowProvider } from './ui/time.tsx';

interface AppProps {
  api: AppApi;
  client: QueryClient;
  site: Site;
  /** Milliseconds since 1970. */
  renderedAt: number;
}

/** The whole app except the router, because the server and the browser use different routers. */
export function App({ api, client, site, renderedAt }: AppProps) {
  return (
    <ApiProvider value={api}>
      <QueryClientProvider client={client}>
        <SiteContext value={site}>
          <NowProvider renderedAt={renderedAt}>
            <NavigationProvider>
              <Layout>
                <CurrentScreen />
              </Layout>
            </NavigationProvider>
          </NowProvider>
        </SiteContext>
      </QueryClientProvider>
    </ApiProvider>
  );
}

function CurrentScreen() {
  const location = useLocation();
  const { name } = matchRoute(location.pathname, location.search);
  return (
    <ErrorBoundary location={location}>
      <Suspense>
        <ScreenView key={name} screen={SCREENS[name]} />
      </Suspense>
    </ErrorBoundary>
  );
}

/** The screen of each route. Each screen's code is in its own chunk. */
export const SCREENS: Record<RouteName, LazyScreen> = {
  home: lazyScreen(() => import('./routes/home/home.tsx').then((module) => module.Home)),
  board: lazyScreen(() => import('./routes/board/board.tsx').then((module) => module.BoardScreen)),
  product: lazyScreen(() => import('./routes/product/product.tsx').then((module) => module.ProductScreen)),
  notFound: lazyScreen(() => import('./routes/not-found/not-found.tsx').then((module) => module.NotFound)),
};
