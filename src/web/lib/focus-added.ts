/**
 * Has something added to a list; then the focus goes to the first item that was not there before, or where nothing came, to
 * `otherwise`. Without this, what was pressed stands behind what came, or is gone. Selectors; an item may be any element.
 */
export async function focusAdded(items: string, add: () => Promise<unknown>, otherwise = ''): Promise<void> {
  const pressed = document.activeElement;
  const before = document.querySelectorAll(items).length;
  await add();
  // The list is drawn with what was read by then.
  await new Promise<void>((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve())));
  // Somebody who went on meanwhile stays there.
  if (document.activeElement !== pressed && document.activeElement !== document.body) return;
  const added = document.querySelectorAll<HTMLElement>(items)[before];
  const target = added ?? (otherwise === '' ? null : document.querySelector<HTMLElement>(otherwise));
  if (!target) return;
  if (target.tabIndex < 0) target.tabIndex = -1;
  target.focus();
}
