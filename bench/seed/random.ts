/** A seeded pseudo-random number generator, so the data can be reproduced. */
export interface Random {
  /** A number from 0 up to, but not including, 1. */
  next(): number;
  /** A whole number from 0 up to, but not including, `bound`. */
  below(bound: number): number;
  /** Returns true with this probability. */
  chance(probability: number): boolean;
}

/** The mulberry32 generator (Tommy Ettinger). Its 32 bits of state are enough for sample data. */
export function randomFrom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return { next, below: (bound) => Math.floor(next() * bound), chance: (probability) => next() < probability };
}

/**
 * Returns a generator of ranks from 0 with a Zipf–Mandelbrot distribution: the probability of rank k is proportional to
 * 1 / (k + 1 + flatness) ** exponent.
 */
export function zipf(size: number, exponent: number, flatness = 0): (random: Random) => number {
  const cumulative = new Float64Array(size);
  let total = 0;
  for (let rank = 0; rank < size; rank += 1) {
    total += (rank + 1 + flatness) ** -exponent;
    cumulative[rank] = total;
  }
  return (random) => {
    const wanted = random.next() * total;
    let low = 0;
    for (let high = size - 1; low < high; ) {
      const middle = (low + high) >>> 1;
      if ((cumulative[middle] ?? total) < wanted) low = middle + 1;
      else high = middle;
    }
    return low;
  };
}

/** Returns a UUID in version 4 format, derived from the seed, the kind of row and its index. */
export function uuidOf(seed: number, kind: number, index: number): string {
  const random = randomFrom(seed ^ Math.imul(kind + 1, 0x9e3779b1) ^ Math.imul(index + 1, 0x85ebca6b));
  const hex = Math.floor((1 + random.next()) * 2 ** 32).toString(16);
  // The id contains the index, because 32 random bits alone would collide among millions of rows.
  const number = (0x1000000000000 + index).toString(16);
  return `${hex.slice(1, 9)}-${hex.slice(2, 6)}-4${hex.slice(3, 6)}-a${hex.slice(5, 8)}-${number.slice(1)}`;
}
