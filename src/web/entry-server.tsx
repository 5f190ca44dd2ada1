import type { QueryClient } from '@tanstack/react-query';
import { renderToString } from 'react-dom/server';
import { StaticRouter } from 'react-router';
import type { ReadApi } from '../contract/api.ts';
import { DEFAULT_COMMENT_SORT } from '../contract/comments/sort.ts';
import { paths } from '../contract/paths.ts';
import type { ProductDetail } from '../contract/products/schema.ts';
import { App } from './app.tsx';
import { commentListOptions, commentOrder } from './features/comments/queries.ts';
import { type ProductFilters, readFilters } from './features/products/filters.ts';
import { productDetailOptions, productListOptions, rankOf } from './features/products/queries.ts';
import { readOnlyApi } from './lib/api-context.tsx';
import type { DocumentHead } from './lib/page-head.ts';
import { writePageState } from './lib/page-state.ts';
import { setCommentCount } from './lib/product-cache.ts';
import { createQueryClient } from './lib/query-client.ts';
import { scriptJson } from './lib/script-json.ts';
import { HOME_DESCRIPTION, homeHead } from './routes/home/head.ts';
import { listStructuredData } from './routes/home/structured-data.ts';
import { notFoundHead } from './routes/not-found/head.ts';
import { missingProductHead, productHead } from './routes/product/head.ts';
import { productStructuredData } from './routes/product/structured-data.ts';
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

export interface RenderedPage extends Omit<DocumentHead, 'structuredData'> {
  /** 404: unknown product or path; 503: the products could not be read, and the page says so. */
  status: 200 | 404 | 503;
  siteName: string;
  siteUrl: string;
  /** Whose code the browser needs for this page. */
  route: RouteName;
  /** The content of `<div id="root">`. */
  html: string;
  /** JSON for `<script type="application/json" id="state">`, safe to embed. */
  state: string;
  /** JSON for `<script type="application/ld+json">`, safe to embed. */
  structuredData?: string;
  /** The image that the first view waits for. */
  preloadImage?: string;
  /** Reads that failed, for the server's log; their words are the specification's. */
  problems?: Error[];
}

/** A visitor waits for this page: the browser's patience with a failing read is not the server's. */
const ONCE = { retry: false } as const;

type Head = DocumentHead & Pick<RenderedPage, 'status' | 'preloadImage'>;

function writeStructuredData(items: readonly object[]): string {
  return scriptJson({ '@context': 'https://schema.org', '@graph': items });
}

/** Renders one page for every visitor: nothing personal is asked for. Never rejects because a read failed. */
export async function render({ url, api, siteName, siteUrl }: RenderRequest): Promise<RenderedPage> {
  const { pathname, searchParams } = new URL(url, 'http://page.invalid');
  const client = createQueryClient('server');
  const renderedAt = Date.now();
  const { structuredData, ...head } = await read({ client, api, siteName, siteUrl, pathname, searchParams });
  const html = renderToString(
    <StaticRouter location={url}>
      <App api={readOnlyApi(api)} client={client} site={{ name: siteName, url: siteUrl }} renderedAt={renderedAt} />
    </StaticRouter>,
  );
  const route = matchRoute(pathname).name;
  const state = writePageState(client, { siteName, siteUrl, renderedAt });
  const page = {
    ...head,
    ...(structuredData?.length ? { structuredData: writeStructuredData(structuredData) } : {}),
    siteName,
    siteUrl,
    route,
    html,
    state,
  };
  const problems = failuresIn(client);
  client.clear();
  return problems.length > 0 ? { ...page, problems } : page;
}

/** A page with nothing on it: the browser reads and renders it whole. */
export function emptyPage(siteName: string, siteUrl: string): RenderedPage {
  const state = writePageState(createQueryClient('server'), { siteName, siteUrl, renderedAt: Date.now() });
  const head = { title: siteName, description: HOME_DESCRIPTION, noindex: true };
  return { ...head, status: 200, siteName, siteUrl, route: 'home', html: '', state };
}

interface Reading {
  client: QueryClient;
  api: ReadApi;
  siteName: string;
  siteUrl: string;
  pathname: string;
  searchParams: URLSearchParams;
}

function read(reading: Reading): Promise<Head> | Head {
  const { name, params } = matchRoute(reading.pathname);
  if (name === 'home') return readHome(reading, readFilters(reading.searchParams));
  if (name === 'product') return readProduct(reading, params.id ?? '');
  return { status: 404, ...notFoundHead(reading.siteName) };
}

async function readHome({ client, api, siteName, siteUrl }: Reading, filters: ProductFilters): Promise<Head> {
  const options = productListOptions(api, filters);
  await client.prefetchInfiniteQuery({ ...options, ...ONCE });
  const products = client.getQueryData(options.queryKey)?.pages[0]?.items;
  if (!products) return { status: 503, title: siteName, description: HOME_DESCRIPTION };
  const preloadImage = products[0]?.image;
  const firstRank = rankOf(filters.page ?? 1, 0);
  const head = homeHead(filters, siteName, { empty: products.length === 0 });
  return {
    status: 200,
    ...head,
    card: { path: paths.siteCard, alt: `${siteName}: ${HOME_DESCRIPTION}` },
    alternates: [
      { type: 'application/atom+xml', path: paths.feed, title: `${siteName}: new products` },
      { type: 'application/feed+json', path: paths.jsonFeed, title: `${siteName}: new products` },
    ],
    structuredData: head.noindex ? [] : listStructuredData({ siteName, siteUrl, filters, products, firstRank }),
    ...(preloadImage ? { preloadImage } : {}),
  };
}

async function readProduct({ client, api, siteName, siteUrl, searchParams }: Reading, id: string): Promise<Head> {
  const options = productDetailOptions(api, id);
  const order = commentOrder(DEFAULT_COMMENT_SORT, searchParams.get('comments'));
  const commentOptions = commentListOptions(api, id, order);
  await Promise.all([
    client.prefetchQuery({ ...options, ...ONCE }),
    client.prefetchInfiniteQuery({ ...commentOptions, ...ONCE }),
  ]);
  // The comments may have been there before the product was.
  const discussion = client.getQueryData(commentOptions.queryKey)?.pages[0];
  if (discussion !== undefined) setCommentCount(client, id, discussion.total);
  const detail: ProductDetail | null | undefined = client.getQueryData(options.queryKey);
  if (detail === undefined) return { status: 503, title: siteName, description: HOME_DESCRIPTION };
  if (detail === null) {
    // Comments of a product that is not there failed to be read, which is nobody's problem.
    client.removeQueries({ queryKey: ['comments', id] });
    return { status: 404, ...missingProductHead(siteName) };
  }
  const { product } = detail;
  return {
    status: 200,
    ...productHead(product, siteName),
    card: { path: paths.card(id), alt: `${product.name}, by ${product.maker}` },
    alternates: [
      { type: 'application/atom+xml', path: paths.commentsFeed(id), title: `Comments on ${product.name}` },
      { type: 'application/json+oembed', path: paths.oembed(siteUrl + paths.product(id)), title: product.name },
    ],
    structuredData: productStructuredData({ siteName, siteUrl, product, comments: discussion?.items ?? [] }),
    ...(product.image ? { preloadImage: product.image } : {}),
  };
}

function failuresIn(client: QueryClient): Error[] {
  const errors = client
    .getQueryCache()
    .getAll()
    .map((query) => query.state.error);
  return errors.filter((error) => error !== null);
}
