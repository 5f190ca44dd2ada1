/**
 * Scrolling stops after this time, even if the page still grows. The time is long, because on a slow network, further
 * pages load slowly.
 */
const MAX_MS = 30_000;

/** Returns a controller that aborts on the next input of the visitor: wheel, touch, pointer, key or history. */
export function abortedByVisitor(): AbortController {
  const stopped = new AbortController();
  for (const event of ['wheel', 'touchstart', 'pointerdown', 'keydown', 'popstate']) {
    window.addEventListener(event, () => stopped.abort(), { passive: true, signal: stopped.signal });
  }
  return stopped;
}

/**
 * Scrolls down to `top` while the page grows, because further pages of a list load when its end comes near. `reached`
 * is the current scroll position. Stops as soon as the visitor does anything. Positions are in CSS pixels.
 */
export function scrollOn(top: number, reached: number): void {
  const stopped = abortedByVisitor();
  // Scroll anchoring would keep the end of the page on screen while the list above it grows.
  const { style } = document.documentElement;
  style.overflowAnchor = 'none';
  const growth = new ResizeObserver(() => {
    // The visitor has scrolled, for example with the scroll bar, which fires none of the events of `abortedByVisitor`.
    if (window.scrollY !== reached) return stopped.abort();
    window.scrollTo({ top, behavior: 'instant' });
    reached = window.scrollY;
    if (reached >= top - 1) stopped.abort();
  });
  const timer = setTimeout(() => stopped.abort(), MAX_MS);
  stopped.signal.addEventListener('abort', () => {
    growth.disconnect();
    style.overflowAnchor = '';
    clearTimeout(timer);
  });
  growth.observe(document.body);
}
