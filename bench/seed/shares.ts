import { randomFrom } from './random.ts';

/**
 * Splits a total over products by a Zipf distribution. The parts add up to the total and are independent of the
 * products' age. `max` is the maximum per product.
 */
export function splitByZipf(total: number, products: number, seed: number, max = Number.POSITIVE_INFINITY): Int32Array {
  const counts = new Int32Array(products);
  const order = shuffled(products, seed);
  const weightOf = (rank: number) => 1 / (rank + 10);
  let weightLeft = 0;
  for (let rank = 0; rank < products; rank += 1) weightLeft += weightOf(rank);
  let left = total;
  for (let rank = 0; rank < products; rank += 1) {
    const weight = weightOf(rank);
    // Each part is a share of the remainder, so the parts add up. Without random rounding, the long tail would be zero.
    const exact = Math.min(max, (left * weight) / weightLeft);
    const part = Math.min(left, Math.floor(exact + random01(seed, rank)));
    counts[order[rank] ?? 0] = part;
    left -= part;
    weightLeft -= weight;
  }
  for (let rank = 0; left > 0 && rank < products; rank += 1) {
    const product = order[rank] ?? 0;
    const room = Math.max(0, Math.min(left, Math.floor(max) - (counts[product] ?? 0)));
    counts[product] = (counts[product] ?? 0) + room;
    left -= room;
  }
  if (left > 0) throw new Error(`Cannot split ${total} over ${products} products with at most ${max} each`);
  return counts;
}

function random01(seed: number, index: number): number {
  return randomFrom(seed ^ Math.imul(index + 1, 0x9e3779b1)).next();
}

/** Returns the numbers below `length` in random order (a Fisher–Yates shuffle). */
function shuffled(length: number, seed: number): Int32Array {
  const random = randomFrom(seed);
  const order = Int32Array.from({ length }, (_, index) => index);
  for (let last = length - 1; last > 0; last -= 1) {
    const other = random.below(last + 1);
    const kept = order[last] ?? 0;
    order[last] = order[other] ?? 0;
    order[other] = kept;
  }
  return order;
}
