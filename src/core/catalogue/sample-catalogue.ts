import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Comment } from '../../contract/comments/schema.ts';
import { completeProduct, type PartialProduct, type StoredProduct } from '../products/complete-product.ts';

/** The sample products, and the little engagement that comes with them, plainly marked. */
export interface SampleCatalogue {
  products: readonly StoredProduct[];
  comments: readonly Comment[];
  upvotes: readonly { productId: string; session: string }[];
}

/**
 * Sessions of sample upvotes. The colon keeps them out of reach: no visitor can claim such a session, so nobody can take
 * a sample upvote back in its name.
 */
export const SAMPLE_SESSION_PREFIX = 'sample:';

/** Reads the catalogue that comes with the package. */
export async function readSampleCatalogue(directory: string): Promise<SampleCatalogue> {
  const read = async <Content>(name: string): Promise<Content> =>
    JSON.parse(await readFile(join(directory, name), 'utf8'));
  const [products, comments, upvotes] = await Promise.all([
    read<PartialProduct[]>('products.json'),
    read<Comment[]>('comments.json'),
    read<Record<string, number>>('upvotes.json'),
  ]);
  return {
    products: products.map((product) => completeProduct(product, new Date(0))),
    comments,
    upvotes: Object.entries(upvotes).flatMap(([productId, count]) =>
      Array.from({ length: count }, (_, index) => ({
        productId,
        session: `${SAMPLE_SESSION_PREFIX}${productId}:${index}`,
      })),
    ),
  };
}
