import type { Comment } from '../../../contract/comments/schema.ts';
import { formatAward } from '../../../contract/leaderboards/format.ts';
import type { Standings } from '../../../contract/leaderboards/schema.ts';
import * as paths from '../../../contract/paths.ts';
import type { Product, TeamMember } from '../../../contract/products/schema.ts';
import type { PageHead } from '../../routing/document-head.ts';
import { clampText, META_DESCRIPTION_CHARACTERS } from '../../routing/head-tags.ts';
import { productHead } from './product.tsx';

const TITLE_CHARACTERS = 90;

/**
 * Returns the head of the server-rendered page. Long text is truncated at a word boundary, because search engines may
 * truncate it in the middle of a word.
 */
export function productDocumentHead(product: Product, siteName: string): PageHead {
  const head = productHead({ ...product, name: clampText(product.name, TITLE_CHARACTERS) }, siteName);
  return { ...head, description: clampText(head.description, META_DESCRIPTION_CHARACTERS) };
}

/**
 * Limits of the structured data. Search engines need only the beginning of the first comments. The page has the full
 * text.
 */
const MAX_COMMENTS = 10;
const COMMENT_CHARACTERS = 300;
const DESCRIPTION_CHARACTERS = 500;
const MAX_PICTURES = 5;

interface ProductData {
  siteName: string;
  siteUrl: string;
  product: Product;
  comments: readonly Comment[];
  standings: Standings | null | undefined;
}

/**
 * Returns the structured data of a product for search engines. It states only what the page shows: no price, no rating
 * and no release date, since the launch date is free text.
 */
export function productStructuredData({ siteName, siteUrl, product, comments, standings }: ProductData): object[] {
  const url = siteUrl + paths.product(product.id);
  const absolute = (address: string) => absoluteUrl(address, siteUrl);
  const screenshots = product.screenshots.slice(0, MAX_PICTURES).flatMap(absolute);
  const awards = Object.values(standings ?? {}).flatMap((standing) => formatAward(standing) ?? []);
  const application = {
    '@type': 'SoftwareApplication',
    '@id': `${url}#product`,
    name: product.name,
    url,
    description: clampText(product.description, DESCRIPTION_CHARACTERS),
    image: [siteUrl + paths.card(product.id), ...absolute(product.image)],
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
  const breadcrumbs = {
    '@type': 'BreadcrumbList',
    itemListElement: [breadcrumb(1, siteName, siteUrl + paths.home), breadcrumb(2, product.name, url)],
  };
  return [application, breadcrumbs];
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

function breadcrumb(position: number, name: string, item: string): object {
  return { '@type': 'ListItem', position, name, item };
}

/** Returns a list of one absolute URL, or an empty list if the URL is invalid or its scheme is not http(s). */
function absoluteUrl(address: string, siteUrl: string): string[] {
  if (address === '' || !URL.canParse(address, siteUrl)) return [];
  const url = new URL(address, siteUrl);
  return /^https?:$/.test(url.protocol) ? [url.href] : [];
}
