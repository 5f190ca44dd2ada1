import type { ReadApi } from '../../contract/api.ts';
import type { Comment } from '../../contract/comments/schema.ts';
import { formatPeriod } from '../../contract/leaderboards/format.ts';
import type { Leaderboard } from '../../contract/leaderboards/schema.ts';
import * as paths from '../../contract/paths.ts';
import type { Product } from '../../contract/products/schema.ts';
import { formatQuantity } from '../../contract/text.ts';
import { absoluteUrl, type SiteIdentity } from '../http/site-identity.ts';
import { escapeHtml } from '../pages/document.ts';
import { element, type Xml, xmlDocument } from './xml.ts';

/** Enough entries for a reader that polls daily to see every launch of a busy day. */
export const FEED_ENTRIES = 50;

/** A launch as an entry of a feed. */
interface Launch {
  /** The URL of the product's page, which is also the id of the entry. */
  url: string;
  title: string;
  text: string;
  html: string;
  maker: string;
  tags: readonly string[];
  image: string | undefined;
  /** The launch time, in ISO 8601 (UTC). */
  at: string;
}

/** Returns the newest launches. @throws CoreError `unavailable`. */
export async function readLaunches(api: ReadApi, site: SiteIdentity): Promise<Launch[]> {
  const { items } = await api.listProducts({ sort: 'newest', limit: FEED_ENTRIES });
  return items.map((product) => launchOf(product, site));
}

function launchOf(product: Product, site: SiteIdentity): Launch {
  const image = pictureUrl(product.image, site);
  const picture = image === undefined ? '' : `<p><img src="${escapeHtml(image)}" alt=""></p>`;
  return {
    url: absoluteUrl(site, paths.product(product.id)),
    title: product.name,
    text: product.description,
    html: `${picture}${paragraphsOf(product.description)}`,
    maker: product.maker,
    tags: product.tags,
    image,
    at: product.createdAt,
  };
}

/** Returns the absolute URL of a picture, or undefined if it is not an HTTP(S) URL. */
function pictureUrl(image: string, site: SiteIdentity): string | undefined {
  if (!URL.canParse(image, site.url())) return undefined;
  const url = new URL(image, site.url());
  return /^https?:$/.test(url.protocol) ? url.href : undefined;
}

function paragraphsOf(text: string): string {
  return text
    .split(/\n{2,}/)
    .map((paragraph) => `<p>${escapeHtml(paragraph).replaceAll('\n', '<br>')}</p>`)
    .join('');
}

export const JSON_FEED_MEDIA_TYPE = 'application/feed+json; charset=utf-8';

/** Returns the newest launches as JSON Feed 1.1 (jsonfeed.org). */
export function launchesJsonFeed(site: SiteIdentity, launches: readonly Launch[]): string {
  return JSON.stringify({
    version: 'https://jsonfeed.org/version/1.1',
    title: site.name,
    description: site.tagline ?? `The newest launches on ${site.name}`,
    home_page_url: absoluteUrl(site, paths.home),
    feed_url: absoluteUrl(site, paths.jsonFeed),
    language: 'en',
    ...(site.logo !== undefined && { icon: absoluteUrl(site, site.logo) }),
    items: launches.map(({ url, title, text, html, maker, tags, image, at }) => ({
      id: url,
      url,
      title,
      summary: text,
      content_html: html,
      ...(image === undefined ? {} : { image }),
      date_published: at,
      date_modified: at,
      authors: [{ name: maker }],
      tags,
    })),
  });
}

export const ATOM_MEDIA_TYPE = 'application/atom+xml; charset=utf-8';

/** An Atom feed needs a date even without entries; a constant keeps the bytes of the feed stable. */
const EPOCH = '1970-01-01T00:00:00.000Z';

interface Feed {
  title: string;
  subtitle?: string;
  /** The URL of the operator's logo. */
  logo?: string | undefined;
  /** The absolute URLs of the feed and of its page. */
  self: string;
  page: string;
  entries: readonly { at: string; element: Xml }[];
}

/** Returns the newest launches as Atom (RFC 4287). */
export function launchesFeed(site: SiteIdentity, launches: readonly Launch[]): string {
  return atomFeed({
    title: site.name,
    subtitle: site.tagline ?? `The newest launches on ${site.name}`,
    logo: logoOf(site),
    self: absoluteUrl(site, paths.feed),
    page: absoluteUrl(site, paths.home),
    entries: launches.map((launch) => ({ at: launch.at, element: launchEntry(launch) })),
  });
}

/** Returns the newest public comments on a product as Atom. */
export function commentsFeed(site: SiteIdentity, product: Product, comments: readonly Comment[]): string {
  const page = absoluteUrl(site, paths.product(product.id));
  return atomFeed({
    title: `Comments on ${product.name}`,
    logo: logoOf(site),
    self: absoluteUrl(site, paths.commentsFeed(product.id)),
    page,
    entries: comments.map((comment) => ({ at: comment.createdAt, element: commentEntry(site, product, comment) })),
  });
}

function logoOf(site: SiteIdentity): string | undefined {
  return site.logo === undefined ? undefined : absoluteUrl(site, site.logo);
}

function launchEntry({ url, title, text, html, maker, tags, at }: Launch): Xml {
  return element('entry', {}, [
    element('id', {}, url),
    element('title', {}, title),
    element('link', { rel: 'alternate', type: 'text/html', href: url }),
    element('published', {}, at),
    element('updated', {}, at),
    element('author', {}, [element('name', {}, maker)]),
    ...tags.map((tag) => element('category', { term: tag })),
    element('summary', {}, text),
    element('content', { type: 'html' }, html),
  ]);
}

function commentEntry(site: SiteIdentity, product: Product, comment: Comment): Xml {
  return element('entry', {}, [
    element('id', {}, `urn:uuid:${comment.id}`),
    element('title', {}, `${comment.authorName} on ${product.name}`),
    element('link', {
      rel: 'alternate',
      type: 'text/html',
      href: absoluteUrl(site, paths.productComments(product.id)),
    }),
    element('published', {}, comment.createdAt),
    element('updated', {}, comment.createdAt),
    element('author', {}, [element('name', {}, comment.authorName)]),
    element('content', {}, comment.content),
  ]);
}

/** Returns an Atom feed with the date of its newest entry. */
function atomFeed({ title, subtitle, logo, self, page, entries }: Feed): string {
  // The current date would change the bytes of an unchanged feed.
  const updated = entries.reduce((newest, { at }) => (at > newest ? at : newest), EPOCH);
  return xmlDocument(
    element('feed', { xmlns: 'http://www.w3.org/2005/Atom', 'xml:lang': 'en' }, [
      element('id', {}, self),
      element('title', {}, title),
      ...(subtitle === undefined ? [] : [element('subtitle', {}, subtitle)]),
      ...(logo === undefined ? [] : [element('icon', {}, logo)]),
      element('link', { rel: 'self', type: 'application/atom+xml', href: self }),
      element('link', { rel: 'alternate', type: 'text/html', href: page }),
      element('updated', {}, updated),
      ...entries.map((entry) => entry.element),
    ]),
  );
}

/** Maximum number of launches per entry. */
const ENTRY_LAUNCHES = 10;

/**
 * Returns the leaderboards of final days as Atom: one entry per day, with its first ten launches.
 * @throws CoreError `unavailable`.
 */
export async function leaderboardsFeed(site: SiteIdentity, api: ReadApi, days: readonly string[]): Promise<string> {
  const boards: (Leaderboard | null)[] = [];
  // Leaderboards are read one at a time, because each takes three statements, and visitors need the other connections.
  for (const day of days) boards.push(await api.getLeaderboard(day, { limit: ENTRY_LAUNCHES }));
  return atomFeed({
    title: `${site.name}: leaderboards`,
    subtitle: `The final results of each day's launches on ${site.name}`,
    logo: logoOf(site),
    self: absoluteUrl(site, paths.leaderboardFeed),
    page: absoluteUrl(site, paths.home),
    entries: boards.flatMap((board) => (board ? [{ at: updatedAt(board), element: boardEntry(site, board) }] : [])),
  });
}

/** Returns when an entry last changed. A correction makes the entry new to feed readers. */
function updatedAt({ finalAt, revisedAt }: Leaderboard): string {
  return revisedAt ?? finalAt;
}

function boardEntry(site: SiteIdentity, board: Leaderboard): Xml {
  const url = absoluteUrl(site, paths.board(board.period));
  const first = board.items.filter(({ rank, votes }) => rank === 1 && votes > 0).map(({ name }) => name);
  const launches = formatQuantity(board.launches, 'launch', 'launches');
  return element('entry', {}, [
    element('id', {}, url),
    element('title', {}, `Launches of ${formatPeriod({ name: board.period, kind: board.kind })}`),
    element('link', { rel: 'alternate', type: 'text/html', href: url }),
    element('published', {}, board.finalAt),
    element('updated', {}, updatedAt(board)),
    element('author', {}, [element('name', {}, site.name)]),
    element('summary', {}, first.length > 0 ? `${launches}. First: ${first.join(', ')}.` : `${launches}.`),
    element('content', { type: 'html' }, boardHtml(site, board)),
  ]);
}

function boardHtml(site: SiteIdentity, { period, items, digest, revision }: Leaderboard): string {
  const rows = items.map(({ rank, productId, name, votes }) => {
    const href = escapeHtml(absoluteUrl(site, paths.product(productId)));
    return `<li value="${rank}"><a href="${href}">${escapeHtml(name)}</a>: ${formatQuantity(votes, 'vote')}</li>`;
  });
  const tally = escapeHtml(absoluteUrl(site, paths.api.tally(period)));
  const revised = revision > 0 ? `<p>Revision ${revision} of this result.</p>` : '';
  const proof = digest === null ? '' : `, ${escapeHtml(digest)}`;
  return `<ol>${rows.join('')}</ol>${revised}<p>Every vote: <a href="${tally}">open tally</a>${proof}</p>`;
}
