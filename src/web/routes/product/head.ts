import * as paths from '../../../contract/paths.ts';
import { PRODUCT_MESSAGES } from '../../../contract/products/messages.ts';
import type { Product } from '../../../contract/products/schema.ts';
import { taglineOf } from '../../../contract/site.ts';
import type { PlainMessage } from '../../language/catalogue.ts';
import { t, translated } from '../../language/translate.ts';
import type { PageHead, SiteWords } from '../../routing/document-head.ts';

/** Returns the head of a product's page, the same for every page of its discussion. */
export function productHead(product: Product, siteName: string): PageHead {
  return {
    title: `${product.name} · ${siteName}`,
    description: translated(product.description),
    canonical: paths.product(product.id),
  };
}

/** Returns the head of the page for an unknown product. */
export function missingProductHead(site: SiteWords, title: PlainMessage = PRODUCT_MESSAGES.notFound): PageHead {
  return { title: `${t(title)} · ${site.name}`, description: translated(taglineOf(site)), noindex: true };
}
