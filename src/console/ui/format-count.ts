const FORMAT = new Intl.NumberFormat('en-US');

/** 1234 → '1,234'. */
export function formatCount(count: number): string {
  return FORMAT.format(count);
}

/** (1, 'product') → '1 product'; (3, 'product') → '3 products'. */
export function formatQuantity(count: number, noun: string): string {
  return `${formatCount(count)} ${noun}${count === 1 ? '' : 's'}`;
}
