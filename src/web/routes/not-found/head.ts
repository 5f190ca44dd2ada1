import { taglineOf } from '../../../contract/brand.ts';
import type { PageHead, SiteWords } from '../../routing/document-head.ts';

export function notFoundHead(site: SiteWords): PageHead {
  return { title: `Page not found · ${site.name}`, description: taglineOf(site), noindex: true };
}
