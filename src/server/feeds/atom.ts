import type { Comment } from '../../contract/comments/schema.ts';
import { paths } from '../../contract/paths.ts';
import type { Product } from '../../contract/products/schema.ts';
import type { Launch } from './launches.ts';
import { absoluteUrl, type SiteIdentity } from './site-identity.ts';
import { element, type Xml, xmlDocument } from './xml.ts';

export const ATOM_MEDIA_TYPE = 'application/atom+xml; charset=utf-8';

/** An Atom feed needs a date even while it has no entry; it must be the same each time. */
const BEFORE_EVERYTHING = '1970-01-01T00:00:00.000Z';

interface Feed {
  title: string;
  subtitle?: string;
  /** Its own address and that of the page that it follows, both absolute. */
  self: string;
  page: string;
  entries: readonly { at: string; element: Xml }[];
}

/** The newest launches as Atom (RFC 4287). */
export function launchesFeed(site: SiteIdentity, launches: readonly Launch[]): string {
  return atomFeed({
    title: site.name,
    subtitle: `The newest launches on ${site.name}`,
    self: absoluteUrl(site, paths.feed),
    page: absoluteUrl(site, paths.home),
    entries: launches.map((launch) => ({ at: launch.at, element: launchEntry(launch) })),
  });
}

/** The newest public comments on a product as Atom. */
export function commentsFeed(site: SiteIdentity, product: Product, comments: readonly Comment[]): string {
  const page = absoluteUrl(site, paths.product(product.id));
  return atomFeed({
    title: `Comments on ${product.name}`,
    self: absoluteUrl(site, paths.commentsFeed(product.id)),
    page,
    entries: comments.map((comment) => ({ at: comment.createdAt, element: commentEntry(site, product, comment) })),
  });
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

function atomFeed({ title, subtitle, self, page, entries }: Feed): string {
  // The newest entry's date: the same feed has the same bytes, whenever and wherever it is made.
  const updated = entries.reduce((newest, { at }) => (at > newest ? at : newest), BEFORE_EVERYTHING);
  return xmlDocument(
    element('feed', { xmlns: 'http://www.w3.org/2005/Atom', 'xml:lang': 'en' }, [
      element('id', {}, self),
      element('title', {}, title),
      ...(subtitle === undefined ? [] : [element('subtitle', {}, subtitle)]),
      element('link', { rel: 'self', type: 'application/atom+xml', href: self }),
      element('link', { rel: 'alternate', type: 'text/html', href: page }),
      element('updated', {}, updated),
      ...entries.map((entry) => entry.element),
    ]),
  );
}
