import { randomUUID } from 'node:crypto';
import type { Comment } from '../../src/contract/comments/schema.ts';
import type { Database } from '../../src/core/database/database.ts';
import type { StoredProduct } from '../../src/core/products/complete-product.ts';
import { saveProducts } from '../../src/core/products/save-products.ts';
import { systemSources } from '../../src/core/sources.ts';
import { setUpvotes } from '../../src/core/upvotes/set-upvotes.ts';
import { buildProduct } from './build-product.ts';
import { type RunningSite, startSite } from './running-site.ts';

type ProductOverrides = Parameters<typeof buildProduct>[0];
type CommentOverrides = Partial<Omit<Comment, 'id' | 'productId'>>;

/** A running site, and a way to put into its database what a test is about. */
export interface E2eSite extends RunningSite {
  database: Database;
  addProduct(overrides?: ProductOverrides): Promise<StoredProduct>;
  /** `overridesOf` is asked for each; the last one is the newest. */
  addProducts(count: number, overridesOf?: (index: number) => ProductOverrides): Promise<StoredProduct[]>;
  /** The comments are given in the order of `overrides`. Without a time of its own, a comment is new. */
  addComments(productId: string, overrides: readonly CommentOverrides[]): Promise<Comment[]>;
  /** Upvotes of that many other visitors. */
  addUpvotes(productId: string, count: number): Promise<void>;
}

const INSERT_COMMENTS = `WITH added AS (
    INSERT INTO comments (id, product_id, author_name, author_avatar, author_badge, content, likes, created_at)
    SELECT id, "productId", "authorName", "authorAvatar", "authorBadge", content, likes, "createdAt"
    FROM jsonb_to_recordset($1::jsonb) AS row (id uuid, "productId" text, "authorName" text, "authorAvatar" text,
      "authorBadge" text, content text, likes integer, "createdAt" timestamptz)
    RETURNING product_id
  )
  UPDATE product_counts SET comments = comments + (SELECT count(*) FROM added) WHERE product_id = $2`;

/** Starts the built command, which logs as it does by default; all tests are one network to it, so it limits nothing. */
export async function startE2eSite(environment: Record<string, string> = {}): Promise<E2eSite> {
  const site = await startSite({ LOG_LEVEL: 'info', RATE_LIMITS: 'off', ...environment });
  const connection = await site.connect();
  const { database } = connection;

  async function addProducts(count: number, overridesOf: (index: number) => ProductOverrides = () => ({})) {
    const products = Array.from({ length: count }, (_, index) => buildProduct(overridesOf(index)));
    await saveProducts(database, products);
    return products;
  }

  return {
    ...site,
    database,
    addProducts,
    async addProduct(overrides) {
      const product = buildProduct(overrides);
      await saveProducts(database, [product]);
      return product;
    },
    async addComments(productId, overrides) {
      const comments = overrides.map((override, index) => ({
        id: randomUUID(),
        productId,
        authorName: 'Somebody',
        authorAvatar: '/pictures/avatar-default.svg',
        authorBadge: null,
        content: `Comment ${index + 1}`,
        likes: 0,
        createdAt: new Date().toISOString(),
        ...override,
      }));
      await database.query(INSERT_COMMENTS, [JSON.stringify(comments), productId]);
      return comments;
    },
    async addUpvotes(productId, count) {
      const changes = Array.from({ length: count }, () => ({
        productId,
        session: `session-${randomUUID()}`,
        upvoted: true,
      }));
      await setUpvotes(database, systemSources, changes);
    },
    async stop() {
      await connection.close();
      await site.stop();
    },
  };
}
