/** Whether a key belongs to somebody else: to a text field, an open dialog, or a shortcut of the browser. */
export function isBusyElsewhere(event: KeyboardEvent): boolean {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return true;
  const target = event.target;
  if (!(target instanceof HTMLElement)) return false;
  if (target.isContentEditable || target.matches('input, textarea, select')) return true;
  return document.querySelector('dialog[open]') !== null;
}
