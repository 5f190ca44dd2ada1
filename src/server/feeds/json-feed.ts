import { paths } from '../../contract/paths.ts';
import type { Launch } from './launches.ts';
import { absoluteUrl, type SiteIdentity } from './site-identity.ts';

export const JSON_FEED_MEDIA_TYPE = 'application/feed+json; charset=utf-8';

/** The newest launches as JSON Feed 1.1 (jsonfeed.org). */
export function launchesJsonFeed(site: SiteIdentity, launches: readonly Launch[]): string {
  return JSON.stringify({
    version: 'https://jsonfeed.org/version/1.1',
    title: site.name,
    description: `The newest launches on ${site.name}`,
    home_page_url: absoluteUrl(site, paths.home),
    feed_url: absoluteUrl(site, paths.jsonFeed),
    language: 'en',
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
