import type { QueryClient } from '@tanstack/react-query';
import { renderToString } from 'react-dom/server';
import { StaticRouter } from 'react-router';
import type { ReadApi } from '../contract/api.ts';
import { DEFAULT_COMMENT_SORT } from '../contract/comments/sort.ts';
import type { ProductDetail } from '../contract/products/schema.ts';
import { App } from './app.tsx';
import { commentListOptions, commentOrder } from './features/comments/queries.ts';
import { type ProductFilters, readFilters } from './features/products/filters.ts';
import { productDetailOptions, productListOptions } from './features/products/queries.ts';
import { readOnlyApi } from './lib/api-context.tsx';
import { writePageState } from './lib/page-state.ts';
import { setCommentCount } from './lib/product-cache.ts';
import { createQueryClient } from './lib/query-client.ts';
import { HOME_DESCRIPTION, homeTitle } from './routes/home/titles.ts';
import { NOT_FOUND_TITLE } from './routes/not-found/not-found.tsx';
import { productSummary, productTitle } from './routes/product/titles.ts';
import { matchRoute, ROUTES, type RouteName } from './routes/table.ts';

// While the server starts: a later build may replace the files of one that is running.
await Promise.all(ROUTES.map(({ route }) => route.preload()));

export interface RenderRequest {
  /** Path and query, e.g. `/?q=a`. */
  url: string;
  api: ReadApi;
  siteName: string;
  siteUrl: string;
}

export interface RenderedPage {
  /** 404: unknown product or path; 503: the products could not be read, and the page says so. */
  status: 200 | 404 | 503;
  /** Whose code the browser needs for this page. */
  route: RouteName;
  /** The content of `<div id="root">`. */
  html: string;
  /** JSON for `<script type="application/json" id="state">`, safe to embed. */
  state: string;
  title: string;
  description: string;
  /** The image that the first view waits for. */
  preloadImage?: string;
  /** Reads that failed, for the server's log; their words are the specification's. */
  problems?: Error[];
}

/** A visitor waits for this page: the browser's patience with a failing read is not the server's. */
const ONCE = { retry: false } as const;

type Head = Pick<RenderedPage, 'status' | 'title' | 'description' | 'preloadImage'>;

/** Renders one page for every visitor: nothing personal is asked for. Never rejects because a read failed. */
export async function render({ url, api, siteName }: RenderRequest): Promise<RenderedPage> {
  const { pathname, searchParams } = new URL(url, 'http://page.invalid');
  const client = createQueryClient('server');
  const renderedAt = Date.now();
  const head = await read({ client, api, siteName, pathname, searchParams });
  const html = renderToString(
    <StaticRouter location={url}>
      <App api={readOnlyApi(api)} client={client} siteName={siteName} renderedAt={renderedAt} />
    </StaticRouter>,
  );
  const route = matchRoute(pathname).name;
  const page = { ...head, route, html, state: writePageState(client, siteName, renderedAt) };
  const problems = failuresIn(client);
  client.clear();
  return problems.length > 0 ? { ...page, problems } : page;
}

interface Reading {
  client: QueryClient;
  api: ReadApi;
  siteName: string;
  pathname: string;
  searchParams: URLSearchParams;
}

function read(reading: Reading): Promise<Head> | Head {
  const { name, params } = matchRoute(reading.pathname);
  if (name === 'home') return readHome(reading, readFilters(reading.searchParams));
  if (name === 'product') return readProduct(reading, params.id ?? '');
  return { status: 404, title: `${NOT_FOUND_TITLE} · ${reading.siteName}`, description: HOME_DESCRIPTION };
}

async function readHome({ client, api, siteName }: Reading, filters: ProductFilters): Promise<Head> {
  const options = productListOptions(api, filters);
  await client.prefetchInfiniteQuery({ ...options, ...ONCE });
  const list = client.getQueryData(options.queryKey);
  const preloadImage = list?.pages[0]?.items[0]?.image;
  return {
    status: list ? 200 : 503,
    title: homeTitle(filters, siteName),
    description: HOME_DESCRIPTION,
    ...(preloadImage ? { preloadImage } : {}),
  };
}

async function readProduct({ client, api, siteName, searchParams }: Reading, id: string): Promise<Head> {
  const options = productDetailOptions(api, id);
  const order = commentOrder(DEFAULT_COMMENT_SORT, searchParams.get('comments'));
  const commentOptions = commentListOptions(api, id, order);
  await Promise.all([
    client.prefetchQuery({ ...options, ...ONCE }),
    client.prefetchInfiniteQuery({ ...commentOptions, ...ONCE }),
  ]);
  // The comments may have been there before the product was.
  const comments = client.getQueryData(commentOptions.queryKey)?.pages[0]?.total;
  if (comments !== undefined) setCommentCount(client, id, comments);
  const detail: ProductDetail | null | undefined = client.getQueryData(options.queryKey);
  const title = productTitle(detail?.product, siteName);
  if (detail === undefined) return { status: 503, title: siteName, description: HOME_DESCRIPTION };
  if (detail === null) {
    // Comments of a product that is not there failed to be read, which is nobody's problem.
    client.removeQueries({ queryKey: ['comments', id] });
    return { status: 404, title, description: HOME_DESCRIPTION };
  }
  const { image } = detail.product;
  const head = { status: 200, title, description: productSummary(detail.product) } as const;
  return image ? { ...head, preloadImage: image } : head;
}

function failuresIn(client: QueryClient): Error[] {
  const errors = client
    .getQueryCache()
    .getAll()
    .map((query) => query.state.error);
  return errors.filter((error) => error !== null);
}
