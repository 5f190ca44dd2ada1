const FORMAT = new Intl.NumberFormat('en-US');

/** Formats a count: 1234 as '1,234'. */
export function formatCount(count: number): string {
  return FORMAT.format(count);
}

/** Formats a count with its noun: '1 product' or '3 products'. */
export function formatQuantity(count: number, noun: string): string {
  return `${formatCount(count)} ${noun}${count === 1 ? '' : 's'}`;
}
