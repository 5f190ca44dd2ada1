import { taglineOf } from '../../../contract/brand.ts';
import { t, translated } from '../../language/translate.ts';
import type { PageHead, SiteWords } from '../../routing/document-head.ts';

export function notFoundHead(site: SiteWords): PageHead {
  return { title: `${t('Page not found')} · ${site.name}`, description: translated(taglineOf(site)), noindex: true };
}
