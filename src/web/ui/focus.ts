/**
 * Adds items to a list, then focuses the first new item or, without one, `otherwise`. Without this, the focus would stay on the
 * pressed button, which is behind the new items, or be lost with it. `items` and `otherwise` are selectors.
 */
export async function focusAdded(items: string, add: () => Promise<unknown>, otherwise = ''): Promise<void> {
  const pressed = document.activeElement;
  const before = document.querySelectorAll(items).length;
  await add();
  // After two frames, the list has been rendered with the new data.
  await new Promise<void>((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve())));
  // A visitor who has moved the focus elsewhere stays there.
  if (document.activeElement !== pressed && document.activeElement !== document.body) return;
  const added = document.querySelectorAll<HTMLElement>(items)[before];
  const target = added ?? (otherwise === '' ? null : document.querySelector<HTMLElement>(otherwise));
  if (!target) return;
  if (target.tabIndex < 0) target.tabIndex = -1;
  target.focus();
}

export function prefersReducedMotion(): boolean {
  return window.matchMedia('(prefers-reduced-motion: reduce)').matches;
}
