const FORMAT = new Intl.NumberFormat('en-US');

/** For example, 1234 becomes '1,234'. */
export function formatCount(count: number): string {
  return FORMAT.format(count);
}

/** For example, `(1, 'product')` returns '1 product', and `(3, 'product')` returns '3 products'. */
export function formatQuantity(count: number, noun: string): string {
  return `${formatCount(count)} ${noun}${count === 1 ? '' : 's'}`;
}
