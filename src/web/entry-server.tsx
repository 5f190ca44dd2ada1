import type { QueryClient } from '@tanstack/react-query';
import { renderToStaticMarkup, renderToString } from 'react-dom/server';
import type { ReadApi } from '../contract/api.ts';
import { type PageBrand, taglineOf } from '../contract/brand.ts';
import { DEFAULT_COMMENT_SORT } from '../contract/comments/defaults.ts';
import { parsePeriod } from '../contract/leaderboards/period.ts';
import { paths } from '../contract/paths.ts';
import type { ProductDetail } from '../contract/products/schema.ts';
import { matchRoute, type RouteName } from '../contract/routes.ts';
import { readOnlyApi } from './api/api-context.tsx';
import { App } from './app.tsx';
import { commentKeys } from './cache/keys.ts';
import { scriptJson, writePageState } from './cache/page-state.ts';
import { setCommentCount } from './cache/product-cache.ts';
import { createQueryClient } from './cache/query-client.ts';
import { commentListOptions, commentOrder } from './features/comments/queries.ts';
import { boardOptions, standingsOptions } from './features/leaderboards/queries.ts';
import { type ProductFilters, positionOf, readFilters } from './features/products/filters.ts';
import { productDetailOptions, productListOptions, relatedProductsOptions } from './features/products/queries.ts';
import { boardHead, missingBoardHead } from './routes/board/head.ts';
import { boardStructuredData } from './routes/board/structured-data.ts';
import { homeHead } from './routes/home/head.ts';
import { LANDSCAPES } from './routes/home/home.tsx';
import { listStructuredData } from './routes/home/structured-data.ts';
import { SUBMIT_LINK } from './routes/layout/submit-slot.tsx';
import { logHead } from './routes/log/head.ts';
import { LogPage } from './routes/log/log-page.tsx';
import { notFoundHead } from './routes/not-found/head.ts';
import { missingProductHead, productHead } from './routes/product/head.ts';
import { MAKER } from './routes/product/maker-slot.tsx';
import { PRODUCT_SIDE, RELATED } from './routes/product/product.tsx';
import { STANDING } from './routes/product/standing-slot.tsx';
import { productStructuredData } from './routes/product/structured-data.ts';
import { SCREENS } from './routes/screens.ts';
import type { DocumentHead, Site } from './routing/document-head.ts';
import { StaticRouter } from './routing/router.tsx';
import { PLACEHOLDER } from './ui/picture.tsx';

// Read when the server starts: a later build may replace the files of a running server.
await Promise.all(
  [...Object.values(SCREENS), STANDING, SUBMIT_LINK, MAKER, LANDSCAPES, PRODUCT_SIDE, RELATED].map((screen) =>
    screen.preload(),
  ),
);

export interface RenderRequest {
  /** Path and query, e.g. `/?q=a`. */
  url: string;
  api: ReadApi;
  siteName: string;
  siteUrl: string;
  /** The current day in the site's time zone, as `YYYY-MM-DD`. */
  today?: string;
  /** Milliseconds since 1970 by the site's clock; unset: by this machine's. */
  renderedAt?: number;
  timeZone?: string | undefined;
  votesPerNetwork?: number | undefined;
  submissions?: Site['submissions'] | undefined;
  brand?: PageBrand | undefined;
}

export interface RenderedPage extends Omit<DocumentHead, 'structuredData'> {
  /** 302: no board can exist for the period; 404: unknown product or path; 503: it could not be read, and the page says so. */
  status: 200 | 302 | 404 | 503;
  siteName: string;
  siteUrl: string;
  /** Whose code the browser needs for this page; unset: it needs none. */
  route?: RouteName;
  /** What the site has, to which every page links. */
  today?: string | undefined;
  hasModerationLog?: boolean | undefined;
  hasSubmissions?: boolean | undefined;
  votesPerNetwork?: number | undefined;
  /** The content of `<div id="root">`. */
  html: string;
  /** JSON for `<script type="application/json" id="state">`, safe to embed. */
  state: string;
  /** JSON for `<script type="application/ld+json">`, safe to embed. */
  structuredData?: string;
  /** The image that the first paint waits for. */
  preloadImage?: string;
  /** Failed reads, for the server's log; the specification fixes their texts. */
  problems?: Error[];
}

/** A visitor waits for this page, so the browser's retries do not apply here. */
const ONCE = { retry: false } as const;

type Head = DocumentHead & Pick<RenderedPage, 'status' | 'preloadImage'>;

function writeStructuredData(items: readonly object[]): string {
  return scriptJson({ '@context': 'https://schema.org', '@graph': items });
}

/** Renders one page for every visitor, without personal data. Never rejects because a read failed. */
export async function render({
  url,
  api,
  siteName,
  siteUrl,
  today = '',
  renderedAt = Date.now(),
  timeZone,
  votesPerNetwork,
  submissions,
  brand = {},
}: RenderRequest): Promise<RenderedPage> {
  const { pathname, searchParams } = new URL(url, 'http://page.invalid');
  const features = {
    today,
    hasModerationLog: api.getModerationLog !== undefined,
    hasSubmissions: submissions !== undefined,
    votesPerNetwork,
  };
  if (pathname === paths.home && searchParams.has('log')) {
    return { ...(await renderLog({ api, siteName, siteUrl, brand, searchParams })), ...features };
  }
  const client = createQueryClient('server');
  const site = siteOf({ siteName, siteUrl, today, timeZone, votesPerNetwork, submissions, brand });
  const { structuredData, ...head } = await read({ client, api, siteName, siteUrl, brand, pathname, searchParams });
  const html = renderToString(
    <StaticRouter url={url}>
      <App api={readOnlyApi(api)} client={client} site={site} renderedAt={renderedAt} />
    </StaticRouter>,
  );
  const route = matchRoute(pathname, searchParams).name;
  const state = writePageState(client, { site, renderedAt });
  const page = {
    ...head,
    ...(structuredData?.length ? { structuredData: writeStructuredData(structuredData) } : {}),
    siteName,
    siteUrl,
    route,
    html,
    state,
    ...features,
  };
  const problems = failuresIn(client);
  client.clear();
  return problems.length > 0 ? { ...page, problems } : page;
}

async function renderLog({
  api,
  siteName,
  siteUrl,
  brand,
  searchParams,
}: Pick<Reading, 'api' | 'siteName' | 'siteUrl' | 'brand' | 'searchParams'>): Promise<RenderedPage> {
  const cursor = searchParams.get('cursor') ?? '';
  const problems: Error[] = [];
  const log =
    api.getModerationLog === undefined
      ? null
      : await api.getModerationLog(cursor === '' ? {} : { cursor }).catch((error: Error) => {
          problems.push(error);
          return undefined;
        });
  const status = log === null ? 404 : log === undefined ? 503 : 200;
  const head = log === null ? notFoundHead({ name: siteName, ...brand }) : logHead(siteName);
  const html = renderToStaticMarkup(
    <LogPage siteName={siteName} logo={brand.logo} log={log} isContinued={cursor !== ''} />,
  );
  return { ...head, status, siteName, siteUrl, html, state: '', problems };
}

type SiteOptions = Omit<RenderRequest, 'url' | 'api' | 'renderedAt'>;

function siteOf({ siteName, siteUrl, today = '', submissions, brand, ...features }: SiteOptions): Site {
  return { name: siteName, url: siteUrl, today, ...features, ...(submissions && { submissions }), ...brand };
}

/** An empty page: the browser reads and renders everything. */
export function emptyPage(siteName: string, siteUrl: string, features: Partial<SiteOptions> = {}): RenderedPage {
  const site = siteOf({ ...features, siteName, siteUrl });
  const state = writePageState(createQueryClient('server'), { site, renderedAt: Date.now() });
  const head = { title: siteName, description: taglineOf(site), noindex: true };
  return { ...head, status: 200, siteName, siteUrl, route: 'home', html: '', state };
}

interface Reading {
  client: QueryClient;
  api: ReadApi;
  siteName: string;
  siteUrl: string;
  brand: PageBrand;
  pathname: string;
  searchParams: URLSearchParams;
}

function read(reading: Reading): Promise<Head> | Head {
  const match = matchRoute(reading.pathname, reading.searchParams);
  if (match.name === 'home') return readHome(reading, readFilters(reading.searchParams));
  if (match.name === 'board') return readBoard(reading, match.period);
  if (match.name === 'product') return readProduct(reading, match.id);
  return { status: 404, ...notFoundHead({ name: reading.siteName, ...reading.brand }) };
}

async function readHome({ client, api, siteName, siteUrl, brand }: Reading, filters: ProductFilters): Promise<Head> {
  const options = productListOptions(api, filters);
  await client.prefetchInfiniteQuery({ ...options, ...ONCE });
  const products = client.getQueryData(options.queryKey)?.pages[0]?.items;
  if (!products) return { status: 503, title: siteName, description: taglineOf(brand) };
  const site = { name: siteName, ...brand };
  const firstRank = positionOf(filters) + 1;
  const head = homeHead(filters, site, { empty: products.length === 0 });
  return {
    status: 200,
    ...head,
    card: { path: paths.siteCard, alt: `${siteName}: ${taglineOf(brand)}` },
    alternates: [
      { type: 'application/atom+xml', path: paths.feed, title: `${siteName}: new products` },
      { type: 'application/feed+json', path: paths.jsonFeed, title: `${siteName}: new products` },
      boardFeed(siteName),
    ],
    structuredData: head.noindex ? [] : listStructuredData({ site, siteUrl, filters, products, firstRank }),
    ...preloadOf(products[0]?.image),
  };
}

async function readBoard(
  { client, api, siteName, siteUrl, brand, searchParams }: Reading,
  name: string,
): Promise<Head> {
  const period = parsePeriod(name);
  if (period === undefined) return { status: 302, ...missingBoardHead({ name: siteName, ...brand }) };
  const options = boardOptions(api, name, searchParams.get('cursor') ?? '');
  await client.prefetchInfiniteQuery({ ...options, ...ONCE });
  const board = client.getQueryData(options.queryKey)?.pages[0];
  if (board === undefined) return { status: 503, ...boardHead(period, siteName, { empty: true }) };
  if (board === null) return { status: 302, ...missingBoardHead({ name: siteName, ...brand }) };
  const head = boardHead(period, siteName, { empty: board.items.length === 0 });
  return {
    status: 200,
    ...head,
    card: head.noindex
      ? { path: paths.siteCard, alt: `${siteName}: ${taglineOf(brand)}` }
      : { path: paths.boardCard(name), alt: `${siteName}: ${head.description}` },
    alternates: [boardFeed(siteName)],
    structuredData:
      head.noindex || searchParams.has('cursor') ? [] : boardStructuredData({ siteName, siteUrl, period, board }),
    ...preloadOf(board.items[0]?.image),
  };
}

function boardFeed(siteName: string) {
  return { type: 'application/atom+xml', path: paths.leaderboardFeed, title: `${siteName}: leaderboards` };
}

async function readProduct(reading: Reading, id: string): Promise<Head> {
  const { client, api, siteName, siteUrl, brand, searchParams } = reading;
  const options = productDetailOptions(api, id);
  const standings = standingsOptions(api, id);
  const order = commentOrder(DEFAULT_COMMENT_SORT, searchParams.get('comments'));
  const commentOptions = commentListOptions(api, id, order);
  await Promise.all([
    client.prefetchQuery({ ...options, ...ONCE }),
    client.prefetchInfiniteQuery({ ...commentOptions, ...ONCE }),
    client.prefetchQuery({ ...standings, ...ONCE }),
    client.prefetchQuery({ ...relatedProductsOptions(api, id), ...ONCE }),
  ]);
  // The comments may have been read before the product was created.
  const discussion = client.getQueryData(commentOptions.queryKey)?.pages[0];
  if (discussion !== undefined) setCommentCount(client, id, discussion.total);
  const detail: ProductDetail | null | undefined = client.getQueryData(options.queryKey);
  if (detail === undefined) return { status: 503, title: siteName, description: taglineOf(brand) };
  if (detail === null) {
    // Reading the comments of an unknown product fails, which is expected.
    client.removeQueries({ queryKey: commentKeys.product(id) });
    return { status: 404, ...missingProductHead({ name: siteName, ...brand }) };
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
    structuredData: productStructuredData({
      siteName,
      siteUrl,
      product,
      comments: discussion?.items ?? [],
      standings: client.getQueryData(standings.queryKey),
    }),
    ...preloadOf(product.image),
  };
}

/** A product without a picture shows a tile. */
function preloadOf(image = ''): Pick<RenderedPage, 'preloadImage'> {
  return image && image !== PLACEHOLDER ? { preloadImage: image } : {};
}

function failuresIn(client: QueryClient): Error[] {
  const errors = client
    .getQueryCache()
    .getAll()
    .map((query) => query.state.error);
  return errors.filter((error) => error !== null);
}
