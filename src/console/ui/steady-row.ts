import { type RefObject, useLayoutEffect } from 'react';
import type { ClickGuard } from './click-guard.ts';

/**
 * Keeps the row under the mouse in place when rows above it are added or removed, because the operator may be about to
 * click on one of its buttons. Touch screens do not show where the operator points, and a row that is gone cannot stay,
 * so then clicks are paused. Each render while `isSteady` is unset may move rows.
 * @returns a function that moves the list to its usual place, to be called when the mouse leaves it.
 */
export function useSteadyRow(
  list: RefObject<HTMLElement | null>,
  { pause }: ClickGuard,
  isSteady: boolean,
): () => void {
  const isTouch = window.matchMedia('(hover: none)').matches;
  const row = isTouch ? list.current?.lastElementChild : list.current?.querySelector('.list-row:hover');
  const top = row?.getBoundingClientRect().top ?? 0;

  useLayoutEffect(() => {
    const element = list.current;
    if (!row || !element || !isSteady) return;
    const moved = () => (row.isConnected ? Math.round(row.getBoundingClientRect().top - top) : 0);
    if (!row.isConnected || (isTouch && moved() !== 0)) pause(row);
    if (isTouch || moved() === 0) return;
    // Leaves a gap for rows that are gone, and scrolls past new ones.
    const gap = Math.max(0, gapOf(element) - moved());
    element.style.top = element.style.marginBottom = `${gap}px`;
    window.scrollBy(0, moved());
    // A page that ends here must be longer before it can scroll.
    if (moved() !== 0) element.style.marginBottom = '100vh';
    window.scrollBy(0, moved());
  });

  return () => {
    if (!list.current) return;
    const gap = gapOf(list.current);
    list.current.style.top = list.current.style.marginBottom = '';
    window.scrollBy(0, -gap);
  };
}

const gapOf = ({ style }: HTMLElement) => Number.parseFloat(style.top) || 0;
