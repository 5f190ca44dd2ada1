import type { RemovedProduct } from '../core/products/remove-products.ts';

/** What visitors left on products, in few words: `1,234 upvotes and 1 comment`. */
export function describeEngagement({ upvotes, comments }: Pick<RemovedProduct, 'upvotes' | 'comments'>): string {
  return `${count(upvotes, 'upvote')} and ${count(comments, 'comment')}`;
}

/** Several of them together: `2 products with 1,234 upvotes and 1 comment`. */
export function describeProducts(products: readonly RemovedProduct[]): string {
  const sum = (key: 'upvotes' | 'comments') => products.reduce((total, product) => total + product[key], 0);
  return `${count(products.length, 'product')} with ${describeEngagement({ upvotes: sum('upvotes'), comments: sum('comments') })}`;
}

function count(number: number, noun: string): string {
  return `${number.toLocaleString('en')} ${noun}${number === 1 ? '' : 's'}`;
}
