/** Half to one and a half times as long, so many browsers do not act at the same moment. */
export function jitter(ms: number): number {
  return ms * (0.5 + Math.random());
}
