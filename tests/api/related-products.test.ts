import { afterAll, beforeAll, expect, test } from 'vitest';
import type { RelatedProducts } from '../../src/contract/products/schema.ts';
import { removeProducts } from '../../src/core/products/remove-products.ts';
import { expectProblem } from '../support/expect-problem.ts';
import { startTestSite, type TestSite } from '../support/test-site.ts';

let site: TestSite;

beforeAll(async () => {
  site = await startTestSite({ cacheEnabled: true });
  await site.addProduct({ id: 'tide', name: 'Tide', tags: ['Sea', 'Tables'] });
  await site.addProduct({ id: 'ebb', name: 'Ebb & Co', tags: ['Sea'] });
  await site.addProduct({ id: 'flood', name: 'Flood', tags: ['Sea'] });
  await site.addProduct({ id: 'moon', name: 'Moon', tags: ['Tables', 'Sea'] });
  await site.addProduct({ id: 'peak', name: 'Peak', tags: ['Mountains'] });
  await site.addProduct({ id: 'bare', name: 'Bare', tags: [] });
});

afterAll(() => site.close());

const idsRelatedTo = async (id: string) => {
  const { items } = await site.ask.json<RelatedProducts>(`/api/products/${id}/related`);
  return items.map((item) => item.id);
};
const sectionOf = async (id: string) =>
  /<section class="related"[\s\S]*?<\/section>/.exec((await site.ask.get(`/product/${id}`)).body)?.[0];

test('the API lists related products with the tags that they share with the product', async () => {
  const response = await site.ask.get('/api/products/tide/related');
  expect(response.statusCode).toBe(200);
  expect(JSON.parse(response.body).items[0]).toEqual({
    id: 'moon',
    name: 'Moon',
    image: '/pictures/placeholder.svg',
    sharedTags: ['Tables', 'Sea'],
  });
  expect(await idsRelatedTo('tide')).toEqual(['moon', 'ebb', 'flood']);
  expect(await idsRelatedTo('bare')).toEqual([]);
});

test('the related products of an unknown product return 404', async () => {
  expectProblem(await site.ask.get('/api/products/unknown/related'), 404, 'product_not_found', 'Product not found');
});

test('the page of a product has a section of related products only if there are any', async () => {
  expect(await sectionOf('tide')).toMatch(/href="\/product\/moon"[\s\S]*Tables · Sea[\s\S]*Ebb &amp; Co/);
  for (const id of ['bare', 'peak']) expect(await sectionOf(id), id).toBeUndefined();
});

test('the section of related products is updated after launches, edits and removals', async () => {
  await site.addProduct({ id: 'peak-2', name: 'Second peak', tags: ['mountains'] });
  await expect.poll(() => sectionOf('peak')).toContain('Second peak');
  await site.addProduct({ id: 'peak-2', name: 'Second summit', tags: ['mountains'] });
  await expect.poll(() => sectionOf('peak')).toContain('Second summit');
  await removeProducts(site.database, ['peak-2']);
  await expect.poll(() => sectionOf('peak')).toBeUndefined();
});
