/** Half to one and a half times as long: what many browsers wait for at once must not end at once. */
export function spreadMs(ms: number): number {
  return ms * (0.5 + Math.random());
}
