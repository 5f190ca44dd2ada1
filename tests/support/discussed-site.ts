import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect } from 'vitest';
import type { AddedComment, Comment, CommentPage } from '../../src/contract/comments/schema.ts';
import type { ProductDetail } from '../../src/contract/products/schema.ts';
import { newVisitor } from './requests.ts';
import { createTestClock } from './test-clock.ts';
import { startTestSite, type TestSite } from './test-site.ts';

/** Starts two sites on one database, and adds a product before each test. Call this function once per test file. */
export function startDiscussedSite() {
  const clock = createTestClock();
  let site: TestSite;
  let other: TestSite;
  let productId: string;

  beforeAll(async () => {
    site = await startTestSite({ runtime: clock });
    other = await startTestSite({ runtime: clock, databaseOf: site });
  });

  beforeEach(async () => {
    productId = (await site.addProduct({ id: `p-${randomUUID()}` })).id;
  });

  afterAll(async () => {
    await other.close();
    await site.close();
  });

  const post = (body: unknown, headers: Record<string, string> = newVisitor()) =>
    site.ask.post('/api/comments', body, headers);

  return {
    clock,
    get site() {
      return site;
    },
    /** A second site on the same database, which acts like another process. */
    get other() {
      return other;
    },
    get productId() {
      return productId;
    },
    post,
    list: (query = '', id = productId) => site.ask.json<CommentPage>(`/api/products/${id}/comments${query}`),
    /** Returns the stored count of the product's comments. */
    total: async () => (await site.ask.json<ProductDetail>(`/api/products/${productId}`)).product.comments,
    async add(content: string): Promise<Comment> {
      const response = await post({ productId, content });
      expect(response.statusCode, response.body).toBe(201);
      return response.json<AddedComment>().comment;
    },
    async setLikes(id: string, likes: number) {
      await site.database.query('UPDATE comments SET likes = $2 WHERE id = $1::uuid', [id, likes]);
    },
  };
}
