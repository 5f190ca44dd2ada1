/**
 * Returns a signal that aborts with the first of `signals`. Replaces `AbortSignal.any`, which Safari 16, Chrome 115 and
 * Firefox 123 lack.
 */
export function anySignal(...signals: readonly (AbortSignal | undefined)[]): AbortSignal {
  const first = new AbortController();
  for (const signal of signals) {
    signal?.addEventListener('abort', () => first.abort(signal.reason), { signal: first.signal });
    if (signal?.aborted) first.abort(signal.reason);
  }
  return first.signal;
}
