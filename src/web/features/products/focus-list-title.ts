import type { MouseEvent } from 'react';

/** For links to another list: the pressed link disappears with its list. On other pages there is no such title. */
export function focusListTitle(event: MouseEvent): void {
  if (event.metaKey || event.ctrlKey || event.shiftKey) return;
  document.getElementById('list-title')?.focus({ preventScroll: true });
}
