import { paths } from '../../../contract/paths.ts';
import { PRODUCT_MESSAGES } from '../../../contract/products/messages.ts';
import type { Product } from '../../../contract/products/schema.ts';
import { clampText } from '../../lib/clamp-text.ts';
import type { PageHead } from '../../lib/page-head.ts';
import { HOME_DESCRIPTION } from '../home/head.ts';

const TITLE_CHARACTERS = 90;
const DESCRIPTION_CHARACTERS = 160;

/** The head of a product's page, whatever part of its discussion is shown. */
export function productHead(product: Product, siteName: string): PageHead {
  return {
    title: `${clampText(product.name, TITLE_CHARACTERS)} · ${siteName}`,
    description: clampText(product.description, DESCRIPTION_CHARACTERS),
    canonical: paths.product(product.id),
  };
}

/** The head of a page that has no product to show. */
export function missingProductHead(siteName: string, title: string = PRODUCT_MESSAGES.notFound): PageHead {
  return { title: `${title} · ${siteName}`, description: HOME_DESCRIPTION, noindex: true };
}
