/**
 * Returns a function that calls `read` and reuses its result for `maxAgeMs`, separately for each argument. After a
 * failure, the next call reads again. `now` returns the time of a monotonic clock in milliseconds.
 */
export function memoize<Argument extends object, Result>(
  read: (argument: Argument) => Promise<Result>,
  maxAgeMs: number,
  now: () => number = () => performance.now(),
): (argument: Argument) => Promise<Result> {
  const results = new WeakMap<Argument, { result: Promise<Result>; until: number }>();
  return (argument) => {
    const last = results.get(argument);
    if (last && now() < last.until) return last.result;
    const result = read(argument);
    results.set(argument, { result, until: now() + maxAgeMs });
    result.catch(() => results.delete(argument));
    return result;
  };
}
