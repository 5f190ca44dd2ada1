import type { MouseEvent } from 'react';

/** For links to another list: on the page of lists, what was pressed goes with the list it stood in. Elsewhere there is no title. */
export function focusListTitle(event: MouseEvent): void {
  if (event.metaKey || event.ctrlKey || event.shiftKey) return;
  document.getElementById('list-title')?.focus({ preventScroll: true });
}
