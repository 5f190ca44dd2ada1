import { PRODUCT_MESSAGES } from '../../contract/products/messages.ts';
import { CoreError } from '../core-error.ts';

/** The one answer to a question about a product that does not exist. */
export function productNotFound(): CoreError {
  return new CoreError('product_not_found', PRODUCT_MESSAGES.notFound);
}
