import { randomUUID } from 'node:crypto';
import type { Comment } from '../../src/contract/comments/schema.ts';
import type { StoredProduct } from '../../src/contract/products/schema.ts';
import { recordChange } from '../../src/core/changes/change-feed.ts';
import type { Database } from '../../src/core/database/database.ts';
import { refreshLaunches } from '../../src/core/leaderboards/launch-votes.ts';
import { placeLaunches } from '../../src/core/leaderboards/update-boards.ts';
import { saveProducts } from '../../src/core/products/save-products.ts';
import { orderedUuid, systemRuntime } from '../../src/core/runtime.ts';
import { setUpvotes } from '../../src/core/upvotes/set-upvotes.ts';
import { buildProduct } from './build-product.ts';
import { type RunningSite, startSite } from './running-site.ts';

type ProductOverrides = Parameters<typeof buildProduct>[0];
type CommentOverrides = Partial<Omit<Comment, 'id' | 'productId'>>;

/** A running site, and functions that write to its database directly. */
export interface E2eSite extends RunningSite {
  database: Database;
  addProduct(overrides?: ProductOverrides): Promise<StoredProduct>;
  /** Adds products, the last of which is the newest. Calls `overridesOf` for each. */
  addProducts(count: number, overridesOf?: (index: number) => ProductOverrides): Promise<StoredProduct[]>;
  /** Adds comments, by default created now. @returns the comments in the order of `overrides`. */
  addComments(productId: string, overrides: readonly CommentOverrides[]): Promise<Comment[]>;
  /** Adds upvotes of `count` other visitors at the time `at` (default: now), and updates the product's leaderboards. */
  addUpvotes(productId: string, count: number, at?: Date): Promise<void>;
  /** Returns the names of the products and submissions that were added since the last call, except default names. */
  takeNewNames(): Promise<string[]>;
  /** Deletes all submissions, and shows held comments. The console renders only the first rows of a long queue. */
  emptyQueue(): Promise<void>;
}

const INSERT_COMMENTS = `WITH added AS (
    INSERT INTO comments (id, product_id, author_name, author_avatar, author_badge, content, likes, created_at)
    SELECT id, "productId", "authorName", "authorAvatar", "authorBadge", content, likes, "createdAt"
    FROM jsonb_to_recordset($1::jsonb) AS row (id uuid, "productId" text, "authorName" text, "authorAvatar" text,
      "authorBadge" text, content text, likes integer, "createdAt" timestamptz)
    RETURNING product_id
  )
  UPDATE product_counts SET comments = comments + (SELECT count(*) FROM added) WHERE product_id = $2`;

const SELECT_NAMES = `SELECT id, name FROM products
  UNION SELECT product_id, product ->> 'name' FROM removed_products
  UNION SELECT id, fields ->> 'name' FROM submissions`;

/** Starts the built command without rate limits, because all tests share one network address. */
export async function startE2eSite(environment: Record<string, string> = {}): Promise<E2eSite> {
  const site = await startSite({ LOG_LEVEL: 'info', RATE_LIMITS: 'off', ...environment });
  const connection = await site.connect();
  const { database } = connection;

  /**
   * Saves products, adds them to their leaderboards and notifies the site. A request for the standing of a product that
   * is not yet on its leaderboards would get 404, which browsers log as an error.
   */
  async function save(products: readonly StoredProduct[]): Promise<void> {
    await saveProducts(database, products);
    await placeLaunches(database, { now: new Date(), timeZone: 'UTC', reviewHours: 24 });
    await recordChange(database, { productIds: products.map(({ id }) => id), catalogue: true });
  }

  async function addProducts(count: number, overridesOf: (index: number) => ProductOverrides = () => ({})) {
    const products = Array.from({ length: count }, (_, index) => buildProduct(overridesOf(index)));
    await save(products);
    return products;
  }

  const known = new Set<string>();
  async function takeNewNames() {
    const rows = await database.query<{ id: string; name: string }>(SELECT_NAMES);
    const added = rows.filter(({ id }) => !known.has(id));
    for (const { id } of added) known.add(id);
    return added.map(({ name }) => name).filter((name) => !/^Product \d+$/.test(name));
  }

  return {
    ...site,
    database,
    addProducts,
    takeNewNames,
    async emptyQueue() {
      await database.query('DELETE FROM submissions');
      await database.query('UPDATE comments SET held_session = NULL WHERE held_session IS NOT NULL');
    },
    async addProduct(overrides) {
      const product = buildProduct(overrides);
      await save([product]);
      return product;
    },
    async addComments(productId, overrides) {
      const comments = overrides.map((override, index) => ({
        id: orderedUuid(),
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
    async addUpvotes(productId, count, at) {
      const changes = Array.from({ length: count }, () => ({
        productId,
        session: `session-${randomUUID()}`,
        upvoted: true,
      }));
      await setUpvotes(database, { ...systemRuntime, ...(at && { now: () => at }) }, changes);
      await refreshLaunches(database, [productId]);
    },
    async stop() {
      await connection.close();
      await site.stop();
    },
  };
}
