import { type QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { Suspense } from 'react';
import { Route, Routes, useLocation } from 'react-router';
import type { Api } from '../contract/api.ts';
import { ApiProvider } from './lib/api-context.tsx';
import { SiteContext } from './lib/document-head.ts';
import { RouteView } from './lib/lazy-route.tsx';
import { NavigationProvider } from './lib/navigation.tsx';
import { NowProvider } from './lib/now.tsx';
import { Layout } from './routes/layout/layout.tsx';
import { matchRoute, ROUTES } from './routes/table.ts';
import { ErrorBoundary } from './ui/error-boundary.tsx';

interface AppProps {
  api: Api;
  client: QueryClient;
  site: { name: string; url: string };
  /** Milliseconds since 1970. */
  renderedAt: number;
}

/** The whole site below a router, the same on the server and in the browser. */
export function App({ api, client, site, renderedAt }: AppProps) {
  return (
    <ApiProvider value={api}>
      <QueryClientProvider client={client}>
        <SiteContext value={site}>
          <NowProvider renderedAt={renderedAt}>
            <NavigationProvider>
              <Layout>
                <ErrorBoundary>
                  <Suspense>
                    <Screen />
                  </Suspense>
                </ErrorBoundary>
              </Layout>
            </NavigationProvider>
          </NowProvider>
        </SiteContext>
      </QueryClientProvider>
    </ApiProvider>
  );
}

/** The screen of the current address. The router would overlook case and a slash at the end, the table of routes does not. */
function Screen() {
  const location = useLocation();
  const { name } = matchRoute(location.pathname);
  const shown = ROUTES.filter((row) => row.name === name);
  return (
    <Routes>
      {shown.map(({ path, route }) => (
        <Route key={path} path={path} element={<RouteView route={route} />} />
      ))}
    </Routes>
  );
}
