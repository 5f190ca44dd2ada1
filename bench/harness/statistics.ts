/** The median and the range of the values of all rounds. */
export interface Spread {
  median: number;
  min: number;
  max: number;
}

export function spreadOf(values: readonly number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b);
  return {
    median: round(quantile(sorted, 0.5)),
    min: round(sorted[0] ?? Number.NaN),
    max: round(sorted.at(-1) ?? Number.NaN),
  };
}

/** Returns the spread of each measure over the results of all rounds. */
export function spreadsOf<Measure extends string>(
  results: readonly Readonly<Record<NoInfer<Measure>, number>>[],
  measures: readonly Measure[],
): Record<Measure, Spread> {
  const spreads = measures.map((measure) => [measure, spreadOf(results.map((result) => result[measure]))]);
  return Object.fromEntries(spreads);
}

/** Returns the spread of the ratios of a measure. Each ratio compares a round with the same round of a baseline. */
export function ratiosTo<Measure extends string>(
  baseline: readonly Readonly<Record<NoInfer<Measure>, number>>[],
  results: readonly Readonly<Record<NoInfer<Measure>, number>>[],
  measure: Measure,
): Spread {
  return spreadOf(results.map((result, round) => result[measure] / (baseline[round] ?? result)[measure]));
}

export type Latencies = Record<'p50Ms' | 'p95Ms' | 'p99Ms' | 'maxMs', number>;

/** Returns percentiles of times in milliseconds. */
export function latenciesOf(timesMs: readonly number[]): Latencies {
  const sorted = Float64Array.from(timesMs).sort();
  return {
    p50Ms: quantile(sorted, 0.5),
    p95Ms: quantile(sorted, 0.95),
    p99Ms: quantile(sorted, 0.99),
    maxMs: sorted.at(-1) ?? Number.NaN,
  };
}

/** Returns the quantile `share` (0 to 1) of sorted values, with linear interpolation. */
export function quantile(sorted: ArrayLike<number>, share: number): number {
  const position = (sorted.length - 1) * share;
  const below = sorted[Math.floor(position)] ?? Number.NaN;
  const above = sorted[Math.ceil(position)] ?? Number.NaN;
  return below + (above - below) * (position - Math.floor(position));
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
