import { taglineOf } from '../../../contract/brand.ts';
import type { Comment } from '../../../contract/comments/schema.ts';
import type { Standings } from '../../../contract/leaderboards/schema.ts';
import { awardInWords } from '../../../contract/leaderboards/words.ts';
import { paths } from '../../../contract/paths.ts';
import { PRODUCT_MESSAGES } from '../../../contract/products/messages.ts';
import type { Product, TeamMember } from '../../../contract/products/schema.ts';
import type { PlainMessage } from '../../language/catalogue.ts';
import { t, translated } from '../../language/translate.ts';
import type { PageHead, SiteWords } from '../../routing/document-head.ts';

const TITLE_CHARACTERS = 90;
const META_DESCRIPTION_CHARACTERS = 160;

/** The head of a product's page, for any part of its discussion. */
export function productHead(product: Product, siteName: string): PageHead {
  return {
    title: `${clampText(product.name, TITLE_CHARACTERS)} · ${siteName}`,
    description: clampText(translated(product.description), META_DESCRIPTION_CHARACTERS),
    canonical: paths.product(product.id),
  };
}

/** The head of a page without a product. */
export function missingProductHead(site: SiteWords, title: PlainMessage = PRODUCT_MESSAGES.notFound): PageHead {
  return { title: `${t(title)} · ${site.name}`, description: translated(taglineOf(site)), noindex: true };
}

/** The page itself has the full text; for search engines, the beginning of the first comments is enough. */
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
 * A product for search engines. It states only what the page shows: no price, no rating and no release date, since the
 * launch date is free text.
 */
export function productStructuredData({ siteName, siteUrl, product, comments, standings }: ProductData): object[] {
  const url = siteUrl + paths.product(product.id);
  const absolute = (address: string) => absoluteUrl(address, siteUrl);
  const screenshots = product.screenshots.slice(0, MAX_PICTURES).flatMap(absolute);
  const awards = Object.values(standings ?? {}).flatMap((standing) => awardInWords(standing) ?? []);
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
    interactionStatistic: [counter('LikeAction', product.upvotes), counter('CommentAction', product.comments)],
    commentCount: product.comments,
    ...(comments.length > 0 ? { comment: comments.slice(0, MAX_COMMENTS).map(said) } : {}),
  };
  const breadcrumbs = {
    '@type': 'BreadcrumbList',
    itemListElement: [crumb(1, siteName, siteUrl + paths.home), crumb(2, product.name, url)],
  };
  return [application, breadcrumbs];
}

function person({ name, role }: TeamMember): object {
  return { '@type': 'Person', name, ...(role ? { jobTitle: role } : {}) };
}

function counter(action: 'LikeAction' | 'CommentAction', count: number): object {
  return { '@type': 'InteractionCounter', interactionType: { '@type': action }, userInteractionCount: count };
}

function said({ authorName, content, createdAt, likes }: Comment): object {
  return {
    '@type': 'Comment',
    text: clampText(content, COMMENT_CHARACTERS),
    dateCreated: createdAt,
    upvoteCount: likes,
    author: { '@type': 'Person', name: authorName },
  };
}

function crumb(position: number, name: string, item: string): object {
  return { '@type': 'ListItem', position, name, item };
}

/** The absolute http(s) URL of an address, as a list, which is empty for any other address. */
function absoluteUrl(address: string, siteUrl: string): string[] {
  if (address === '' || !URL.canParse(address, siteUrl)) return [];
  const url = new URL(address, siteUrl);
  return /^https?:$/.test(url.protocol) ? [url.href] : [];
}

/** The number of UTF-16 code units to examine per character. A flag or a family emoji is one character of many units. */
const UNITS_PER_CHARACTER = 32;

/** If a cut between words left a smaller share of the limit, the text is cut within a word: some scripts have no spaces. */
const MIN_SHOWN_SHARE = 0.6;

const segmenter = typeof Intl.Segmenter === 'function' ? new Intl.Segmenter('en') : null;

/** A text as one line of at most `limit` visible characters; a cut text ends at a word, with an ellipsis. */
export function clampText(text: string, limit: number): string {
  const looked = text.slice(0, limit * UNITS_PER_CHARACTER);
  // One character more than allowed shows that the text is too long, so the rest need not be examined.
  const characters = firstCharacters(looked.replace(/\s+/g, ' ').trim(), limit + 1);
  if (looked.length === text.length && characters.length <= limit) return characters.join('');
  // The last character may have been cut in half.
  const end = Math.min(limit - 1, characters.length - 1);
  const space = characters[end] === ' ' ? end : characters.lastIndexOf(' ', end);
  const shown = characters.slice(0, space > limit * MIN_SHOWN_SHARE ? space : end);
  return `${shown.join('').replace(/[\s,;:.–—-]+$/u, '')}…`;
}

/** In such a text each unit is one character, because all combining characters are beyond ASCII. */
const PLAIN = /^[ -~]*$/;

function firstCharacters(line: string, count: number): string[] {
  // Segmenting a text is slow, compared with rendering the page, so ASCII is handled without it.
  const start = line.slice(0, count + 1);
  if (PLAIN.test(start)) return Array.from(start).slice(0, count);
  if (segmenter === null) return Array.from(line).slice(0, count);
  const characters: string[] = [];
  for (const { segment } of segmenter.segment(line)) {
    if (characters.push(segment) === count) break;
  }
  return characters;
}
