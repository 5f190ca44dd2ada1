import type { Comment } from '../contract/comments/schema.ts';
import { formatAward } from '../contract/leaderboards/format.ts';
import type { Period } from '../contract/leaderboards/period.ts';
import type { Leaderboard, Standings } from '../contract/leaderboards/schema.ts';
import * as paths from '../contract/paths.ts';
import type { Product, TeamMember } from '../contract/products/schema.ts';
import { type Site, taglineOf } from '../contract/site.ts';
import type { ProductFilters } from './features/products/filters.ts';
import { t, translated } from './language/translate.ts';
import { boardTitle } from './routes/board/board.tsx';
import { clampText } from './routing/head-tags.ts';

// The structured data of pages (schema.org), for search engines. Only the server writes it.

type PageSite = Pick<Site, 'name' | 'tagline' | 'url'>;

interface ListData {
  site: PageSite;
  filters: ProductFilters;
  products: readonly Product[];
  /** The rank of the first product in `products`. */
  firstRank: number;
}

/** Returns the structured data of a list: its products in order and, on the home page, the site and its search. */
export function listStructuredData({ site, filters, products, firstRank }: ListData): object[] {
  const list = {
    '@type': 'ItemList',
    name: filters.tag ? t('{tag} products', { tag: filters.tag }) : t('Top Products Launching Today'),
    numberOfItems: products.length,
    itemListElement: products.map(({ id }, index) => ({
      '@type': 'ListItem',
      position: firstRank + index,
      url: site.url + paths.product(id),
    })),
  };
  const items = products.length > 0 ? [list] : [];
  return paths.list(filters) === paths.home ? [website(site), ...items] : items;
}

function website(site: PageSite): object {
  return {
    '@type': 'WebSite',
    '@id': `${site.url}/#website`,
    name: site.name,
    url: site.url + paths.home,
    description: translated(taglineOf(site)),
    potentialAction: {
      '@type': 'SearchAction',
      target: { '@type': 'EntryPoint', urlTemplate: `${site.url}/?q={search_term_string}` },
      'query-input': 'required name=search_term_string',
    },
  };
}

interface BoardData {
  site: PageSite;
  period: Period;
  board: Leaderboard;
}

/** Returns the structured data of a leaderboard: its first launches, in the order on screen. */
export function boardStructuredData({ site, period, board }: BoardData): object[] {
  const list = {
    '@type': 'ItemList',
    name: boardTitle(period),
    numberOfItems: board.launches,
    itemListElement: board.items.map(({ name, productId }, index) => ({
      '@type': 'ListItem',
      position: index + 1,
      name,
      url: site.url + paths.product(productId),
    })),
  };
  const page = { name: list.name, item: site.url + paths.board(period.name) };
  return [list, breadcrumbs(site, page)];
}

/**
 * Limits of the structured data: numbers of comments and pictures, and characters per text. Search engines need no
 * more, and the page shows everything.
 */
const MAX_COMMENTS = 10;
const COMMENT_CHARACTERS = 300;
const DESCRIPTION_CHARACTERS = 500;
const MAX_PICTURES = 5;

interface ProductData {
  site: PageSite;
  product: Product;
  comments: readonly Comment[];
  standings: Standings | null | undefined;
}

/**
 * Returns the structured data of a product. It contains only what the page shows, so no price and no rating. It has no
 * release date, because the launch date is free text.
 */
export function productStructuredData({ site, product, comments, standings }: ProductData): object[] {
  const url = site.url + paths.product(product.id);
  const absolute = (address: string) => absoluteUrl(address, site.url);
  const screenshots = product.screenshots.slice(0, MAX_PICTURES).flatMap(absolute);
  const awards = Object.values(standings ?? {}).flatMap((standing) => formatAward(standing) ?? []);
  const application = {
    '@type': 'SoftwareApplication',
    '@id': `${url}#product`,
    name: product.name,
    url,
    description: clampText(product.description, DESCRIPTION_CHARACTERS),
    image: [site.url + paths.card(product.id), ...absolute(product.image)],
    applicationCategory: product.category,
    author: { '@type': 'Organization', name: product.maker },
    ...(product.tags.length > 0 ? { keywords: product.tags } : {}),
    ...(awards.length > 0 ? { award: awards } : {}),
    ...(screenshots.length > 0 ? { screenshot: screenshots } : {}),
    ...(product.team.length > 0 ? { contributor: product.team.map(person) } : {}),
    interactionStatistic: [
      interactionCounter('LikeAction', product.upvotes),
      interactionCounter('CommentAction', product.comments),
    ],
    commentCount: product.comments,
    ...(comments.length > 0 ? { comment: comments.slice(0, MAX_COMMENTS).map(commentItem) } : {}),
  };
  return [application, breadcrumbs(site, { name: product.name, item: url })];
}

function person({ name, role }: TeamMember): object {
  return { '@type': 'Person', name, ...(role ? { jobTitle: role } : {}) };
}

function interactionCounter(action: 'LikeAction' | 'CommentAction', count: number): object {
  return { '@type': 'InteractionCounter', interactionType: { '@type': action }, userInteractionCount: count };
}

function commentItem({ authorName, content, createdAt, likes }: Comment): object {
  return {
    '@type': 'Comment',
    text: clampText(content, COMMENT_CHARACTERS),
    dateCreated: createdAt,
    upvoteCount: likes,
    author: { '@type': 'Person', name: authorName },
  };
}

/** Returns the breadcrumb trail from the home page to a page. */
function breadcrumbs(site: PageSite, page: { name: string; item: string }): object {
  const items = [{ name: site.name, item: site.url + paths.home }, page];
  return {
    '@type': 'BreadcrumbList',
    itemListElement: items.map((item, index) => ({ '@type': 'ListItem', position: index + 1, ...item })),
  };
}

/** Returns a list of one absolute URL, or an empty list if the URL is invalid or its scheme is not http(s). */
function absoluteUrl(address: string, siteUrl: string): string[] {
  if (address === '' || !URL.canParse(address, siteUrl)) return [];
  const url = new URL(address, siteUrl);
  return /^https?:$/.test(url.protocol) ? [url.href] : [];
}
