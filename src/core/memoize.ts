/**
 * Returns a function that calls `read`, shares the call with concurrent callers, and reuses its result for `maxAgeMs`
 * from the start of the call, separately for each argument. After a failure, the next call reads again. `now` returns
 * the time of a monotonic clock in milliseconds.
 */
export function memoize<Argument extends object, Result>(
  read: (argument: Argument) => Promise<Result>,
  maxAgeMs: number,
  now: () => number = () => performance.now(),
): (argument: Argument) => Promise<Result> {
  const results = new WeakMap<Argument, { result: Promise<Result>; until: number; isPending: boolean }>();
  return (argument) => {
    const last = results.get(argument);
    if (last && (last.isPending || now() < last.until)) return last.result;
    const next = { result: read(argument), until: now() + maxAgeMs, isPending: true };
    results.set(argument, next);
    next.result.then(
      () => {
        next.isPending = false;
      },
      () => results.delete(argument),
    );
    return next.result;
  };
}
