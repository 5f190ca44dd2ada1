import type { QueryClient } from '@tanstack/react-query';
import type { ReadApi } from '../contract/api.ts';
import { DEFAULT_COMMENT_SORT } from '../contract/comments/defaults.ts';
import { parsePeriod } from '../contract/leaderboards/period.ts';
import * as paths from '../contract/paths.ts';
import { PRODUCT_MESSAGES } from '../contract/products/messages.ts';
import type { Product, ProductDetail } from '../contract/products/schema.ts';
import { matchRoute } from '../contract/routes.ts';
import { type Site, taglineOf } from '../contract/site.ts';
import { commentKeys, setCommentCount } from './cache/cached-data.ts';
import { commentListOptions, commentOrder } from './features/comments/queries.ts';
import { boardOptions, standingsOptions } from './features/leaderboards/queries.ts';
import { type ProductFilters, positionOf, readFilters } from './features/products/filters.ts';
import { productDetailOptions, productListOptions, relatedProductsOptions } from './features/products/queries.ts';
import { translated } from './language/translate.ts';
import { boardHead } from './routes/board/board.tsx';
import { homeHead } from './routes/home/home.tsx';
import { productHead } from './routes/product/product.tsx';
import { type DocumentHead, type PageHead, unlistedHead } from './routing/document-head.ts';
import { clampText, META_DESCRIPTION_CHARACTERS } from './routing/head-tags.ts';
import { boardStructuredData, listStructuredData, productStructuredData } from './structured-data.ts';
import { PLACEHOLDER } from './ui/picture.tsx';

/** The visitor is waiting for the page, so failed reads are not retried. */
const NO_RETRY = { retry: false } as const;

/** The HTTP status of a page and the metadata of its document. */
export interface ReadHead extends DocumentHead {
  /**
   * 302 if no board can exist for the period, or if the URL has a cursor past the end of a list other than a search;
   * 404 for an unknown product or path; 503 if the data could not be read, which the page reports.
   */
  status: 200 | 302 | 404 | 503;
  /** The image to preload, because it is part of the first paint. */
  preloadImage?: string;
}

export interface PageRequest {
  client: QueryClient;
  api: ReadApi;
  site: Site;
  pathname: string;
  searchParams: URLSearchParams;
}

/**
 * Reads the data of the page. Returns a function that creates the document head and must be called in the page's
 * language.
 */
export function readPage(request: PageRequest): Promise<() => ReadHead> | (() => ReadHead) {
  const match = matchRoute(request.pathname, request.searchParams);
  if (match.name === 'home') return readHome(request, readFilters(request.searchParams));
  if (match.name === 'board') return readBoard(request, match.period);
  if (match.name === 'product') return readProduct(request, match.id);
  return () => ({ status: 404, ...unlistedHead('Page not found', request.site) });
}

async function readHome({ client, api, site }: PageRequest, filters: ProductFilters): Promise<() => ReadHead> {
  const options = productListOptions(api, filters);
  await client.prefetchInfiniteQuery({ ...options, ...NO_RETRY });
  const page = client.getQueryData(options.queryKey)?.pages[0];
  // A search for a term or a tag may return short pages, so an empty last page is not an error.
  const isMissing = page && filters.cursor && !filters.q && !filters.tag && isPastEnd(page);
  if (!page || isMissing) {
    const status = isMissing ? 302 : 503;
    return () => ({ status, title: site.name, description: translated(taglineOf(site)) });
  }
  const products = page.items;
  const firstRank = positionOf(filters) + 1;
  return () => {
    const head = homeHead(filters, site, { empty: products.length === 0 });
    return {
      status: 200,
      ...head,
      card: { path: paths.siteCard, alt: `${site.name}: ${translated(taglineOf(site))}` },
      alternates: [
        { type: 'application/atom+xml', path: paths.feed, title: `${site.name}: new products` },
        { type: 'application/feed+json', path: paths.jsonFeed, title: `${site.name}: new products` },
        boardFeed(site.name),
      ],
      structuredData: head.noindex ? [] : listStructuredData({ site, filters, products, firstRank }),
      ...preloadOf(products[0]?.image),
    };
  };
}

async function readBoard({ client, api, site, searchParams }: PageRequest, name: string): Promise<() => ReadHead> {
  const period = parsePeriod(name);
  const missing = (): ReadHead => ({ status: 302, ...unlistedHead('No leaderboard', site) });
  if (period === undefined) return missing;
  const options = boardOptions(api, name, searchParams.get('cursor') ?? '');
  await client.prefetchInfiniteQuery({ ...options, ...NO_RETRY });
  const board = client.getQueryData(options.queryKey)?.pages[0];
  if (board === undefined) return () => ({ status: 503, ...boardHead(period, site.name, { empty: true }) });
  if (board === null || (searchParams.has('cursor') && isPastEnd(board))) return missing;
  return () => {
    const head = boardHead(period, site.name, { empty: board.items.length === 0 });
    return {
      status: 200,
      ...head,
      card: head.noindex
        ? { path: paths.siteCard, alt: `${site.name}: ${translated(taglineOf(site))}` }
        : { path: paths.boardCard(name), alt: `${site.name}: ${head.description}` },
      alternates: [boardFeed(site.name)],
      structuredData: head.noindex || searchParams.has('cursor') ? [] : boardStructuredData({ site, period, board }),
      ...preloadOf(board.items[0]?.image),
    };
  };
}

function boardFeed(siteName: string) {
  return { type: 'application/atom+xml', path: paths.leaderboardFeed, title: `${siteName}: leaderboards` };
}

async function readProduct({ client, api, site, searchParams }: PageRequest, id: string): Promise<() => ReadHead> {
  const options = productDetailOptions(api, id);
  const standings = standingsOptions(api, id);
  const order = commentOrder(DEFAULT_COMMENT_SORT, searchParams.get('comments'));
  const commentOptions = commentListOptions(api, id, order);
  await Promise.all([
    client.prefetchQuery({ ...options, ...NO_RETRY }),
    client.prefetchInfiniteQuery({ ...commentOptions, ...NO_RETRY }),
    client.prefetchQuery({ ...standings, ...NO_RETRY }),
    client.prefetchQuery({ ...relatedProductsOptions(api, id), ...NO_RETRY }),
  ]);
  // The comments may have arrived before the product. Then their total could not be stored with the product yet.
  const discussion = client.getQueryData(commentOptions.queryKey)?.pages[0];
  if (discussion !== undefined) setCommentCount(client, id, discussion.total);
  const detail: ProductDetail | null | undefined = client.getQueryData(options.queryKey);
  if (detail === undefined) return () => ({ status: 503, title: site.name, description: translated(taglineOf(site)) });
  if (detail === null) {
    // Reading the comments of an unknown product fails, which is expected, so the failure is not reported.
    client.removeQueries({ queryKey: commentKeys.product(id) });
    return () => ({ status: 404, ...unlistedHead(PRODUCT_MESSAGES.notFound, site) });
  }
  const { product } = detail;
  const isMissing = searchParams.has('comments') && discussion && isPastEnd(discussion);
  return () => ({
    status: isMissing ? 302 : 200,
    ...productDocumentHead(product, site.name),
    card: { path: paths.card(id), alt: `${product.name}, by ${product.maker}` },
    alternates: [
      { type: 'application/atom+xml', path: paths.commentsFeed(id), title: `Comments on ${product.name}` },
      { type: 'application/json+oembed', path: paths.oembed(site.url + paths.product(id)), title: product.name },
    ],
    structuredData: productStructuredData({
      site,
      product,
      comments: discussion?.items ?? [],
      standings: client.getQueryData(standings.queryKey),
    }),
    ...preloadOf(product.image),
  });
}

/** Returns whether a cursor is past the end of its list, for example because the items after it were deleted. */
function isPastEnd({ items, nextCursor }: { items: readonly unknown[]; nextCursor: string | null }): boolean {
  return items.length === 0 && nextCursor === null;
}

const TITLE_CHARACTERS = 90;

/**
 * Returns the document head of a product's page. Long text is truncated at a word boundary, because search engines
 * might truncate it within a word.
 */
function productDocumentHead(product: Product, siteName: string): PageHead {
  const head = productHead({ ...product, name: clampText(product.name, TITLE_CHARACTERS) }, siteName);
  return { ...head, description: clampText(head.description, META_DESCRIPTION_CHARACTERS) };
}

/** Returns the image to preload. A product without a picture shows a drawn placeholder, which needs no preload. */
function preloadOf(image = ''): Pick<ReadHead, 'preloadImage'> {
  return image && image !== PLACEHOLDER ? { preloadImage: image } : {};
}
