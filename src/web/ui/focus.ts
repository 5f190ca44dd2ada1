/**
 * Waits until `find` returns a rendered element, then returns that element. Gives up after `frames` more frames, because
 * the element's item may have been deleted, and then returns the last result of `find`.
 */
export async function findRendered<Found>(find: () => Found, frames = 60): Promise<Found> {
  await new Promise(requestAnimationFrame);
  const found = find();
  return found || !frames ? found : findRendered(find, frames - 1);
}

/**
 * Adds items to a list, then focuses the first new item or, if there is none, `otherwise`. Without this, the focus
 * would stay on the pressed button below the new items, or be lost with the button. Does not scroll to the item if the
 * visitor has scrolled in the meantime. `items` and `otherwise` are selectors.
 */
export async function focusAdded(items: string, add: () => Promise<unknown>, otherwise = ''): Promise<void> {
  const pressed = document.activeElement;
  const before = new Set(document.querySelectorAll(items));
  const top = window.scrollY;
  await add();
  const target = await findRendered(
    () =>
      Array.from(document.querySelectorAll<HTMLElement>(items)).find((item) => !before.has(item)) ??
      (otherwise && document.querySelector<HTMLElement>(otherwise)),
  );
  // The focus stays where it is if the visitor has moved it since the press.
  if (![pressed, document.body].includes(document.activeElement) || !target) return;
  if (target.tabIndex < 0) target.tabIndex = -1;
  target.focus({ preventScroll: top !== window.scrollY });
}

/** Returns whether a text field has the focus. While it has, code must not move the focus. */
export function isTyping(): boolean | undefined {
  return document.activeElement?.matches(':read-write');
}

export function prefersReducedMotion(): boolean {
  return window.matchMedia('(prefers-reduced-motion: reduce)').matches;
}

/** Returns the option `behavior` for `scrollIntoView`, according to whether the visitor prefers reduced motion. */
export function scrollBehavior(): ScrollBehavior {
  return prefersReducedMotion() ? 'instant' : 'smooth';
}
