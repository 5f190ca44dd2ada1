import { type QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { Suspense } from 'react';
import { Route, Routes } from 'react-router';
import type { Api } from '../contract/api.ts';
import { ApiProvider } from './lib/api-context.tsx';
import { SiteNameContext } from './lib/document-title.ts';
import { RouteView } from './lib/lazy-route.tsx';
import { NavigationProvider } from './lib/navigation.tsx';
import { NowProvider } from './lib/now.tsx';
import { Layout } from './routes/layout/layout.tsx';
import { ROUTES } from './routes/table.ts';
import { ErrorBoundary } from './ui/error-boundary.tsx';

interface AppProps {
  api: Api;
  client: QueryClient;
  siteName: string;
  /** Milliseconds since 1970. */
  renderedAt: number;
}

/** The whole site below a router, the same on the server and in the browser. */
export function App({ api, client, siteName, renderedAt }: AppProps) {
  return (
    <ApiProvider value={api}>
      <QueryClientProvider client={client}>
        <SiteNameContext value={siteName}>
          <NowProvider renderedAt={renderedAt}>
            <NavigationProvider>
              <Layout>
                <ErrorBoundary>
                  <Suspense>
                    <Routes>
                      {ROUTES.map(({ path, route }) => (
                        <Route key={path} path={path} element={<RouteView route={route} />} />
                      ))}
                    </Routes>
                  </Suspense>
                </ErrorBoundary>
              </Layout>
            </NavigationProvider>
          </NowProvider>
        </SiteNameContext>
      </QueryClientProvider>
    </ApiProvider>
  );
}
