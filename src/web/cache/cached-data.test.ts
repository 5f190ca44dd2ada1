import { QueryClient } from '@tanstack/react-query';
import { describe, expect, test } from 'vitest';
import { exampleProduct } from '../../../tests/support/product-data.ts';
import { findListedProduct, flattenPages, patchProduct, productKeys, setCommentCount } from './cached-data.ts';

function clientWith(): QueryClient {
  const client = new QueryClient();
  const page = (...ids: string[]) => ({ items: ids.map((id) => exampleProduct({ id })), nextCursor: null });
  client.setQueryData(productKeys.list({}), { pages: [page('a', 'b'), page('c')], pageParams: [] });
  client.setQueryData(productKeys.list({ q: 'c' }), { pages: [page('c')], pageParams: [] });
  client.setQueryData(productKeys.detail('c'), { product: exampleProduct({ id: 'c' }), previousId: 'b', nextId: null });
  client.setQueryData(productKeys.saved('c'), exampleProduct({ id: 'c' }));
  return client;
}

describe('a change to one product', () => {
  test('appears in every list, in the product’s detail and in the saved products, and nowhere else', () => {
    const client = clientWith();
    patchProduct(client, 'c', (product) => ({ ...product, upvotes: 8 }));
    expect(findListedProduct(client, 'c')?.product.upvotes).toBe(8);
    expect(client.getQueryData(productKeys.list({ q: 'c' }))).toMatchObject({ pages: [{ items: [{ upvotes: 8 }] }] });
    expect(client.getQueryData(productKeys.detail('c'))).toMatchObject({ product: { upvotes: 8 }, previousId: 'b' });
    expect(client.getQueryData(productKeys.saved('c'))).toMatchObject({ upvotes: 8 });
    expect(findListedProduct(client, 'a')?.product.upvotes).toBe(7);
  });

  test('leaves lists without the product untouched', () => {
    const client = clientWith();
    const before = client.getQueryData(productKeys.list({ q: 'c' }));
    patchProduct(client, 'a', (product) => ({ ...product, upvotes: 8 }));
    expect(client.getQueryData(productKeys.list({ q: 'c' }))).toBe(before);
  });

  test('does not mark old data as fresh', () => {
    const client = clientWith();
    const list = () => client.getQueryState(productKeys.list({ q: 'c' }));
    const { dataUpdatedAt } = list() ?? {};
    void client.invalidateQueries({ queryKey: productKeys.lists });
    setCommentCount(client, 'c', 99);
    expect(findListedProduct(client, 'c')?.product.comments).toBe(99);
    expect(list()).toMatchObject({ dataUpdatedAt, isInvalidated: true });
  });

  test('has no effect if the product is known to be missing', () => {
    const client = clientWith();
    client.setQueryData(productKeys.detail('x'), null);
    patchProduct(client, 'x', (product) => ({ ...product, upvotes: 8 }));
    expect(client.getQueryData(productKeys.detail('x'))).toBeNull();
    expect(findListedProduct(client, 'x')).toBeUndefined();
  });
});

test('an item that a later page repeats is returned only once, and a missing page counts as empty', () => {
  const pages = [{ items: ['a', 'b'] }, null, { items: ['b', 'c'] }];
  expect(flattenPages(pages, (item) => item)).toEqual(['a', 'b', 'c']);
});
