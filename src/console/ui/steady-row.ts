import type { Virtualizer } from '@tanstack/react-virtual';
import { type RefObject, useLayoutEffect } from 'react';
import type { ClickGuard } from './click-guard.ts';

type ListRef = RefObject<HTMLElement | null>;
type AdjustScroll = Virtualizer<Window, Element>['shouldAdjustScrollPositionOnItemSizeChange'];

const isTouchScreen = () => window.matchMedia('(hover: none)').matches;

/** Returns the row under the mouse, unless the operator uses the keyboard in the list. */
function pointedRow({ current: list }: ListRef): Element | null {
  if (isTouchScreen() || list?.querySelector(':focus-visible')) return null;
  return list?.querySelector('.list-row:hover') ?? null;
}

/** Returns the last row whose top is on the screen. */
function lastVisibleRow({ current: list }: ListRef): Element | undefined {
  return [...(list?.children ?? [])].findLast((row) => row.getBoundingClientRect().top < window.innerHeight);
}

/**
 * Keeps the row under the mouse in place when rows above it come, go or change their height, because the operator may
 * be about to click on one of its buttons. Touch screens do not show where the operator points, and a row that is gone
 * cannot stay, so then clicks are paused. Each render while `isSteady` is unset may move rows.
 * @returns a function that moves the list to its usual place, to be called when the mouse leaves it.
 */
export function useSteadyRow(list: ListRef, { pause }: ClickGuard, isSteady: boolean): () => void {
  const isTouch = isTouchScreen();
  const row = !isSteady ? undefined : isTouch ? lastVisibleRow(list) : pointedRow(list);
  const top = row?.getBoundingClientRect().top ?? 0;

  useLayoutEffect(() => {
    const element = list.current;
    if (!row || !element) return;
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

/**
 * Returns whether the virtualizer scrolls after a row above has changed its height. Its own rule, except while
 * `useSteadyRow` keeps a row in place, which would move twice.
 */
export function adjustScrollOf(list: ListRef): NonNullable<AdjustScroll> {
  return ({ key, start, end }, _delta, { itemSizeCache, scrollOffset, scrollDirection, isScrolling }) => {
    const top = scrollOffset ?? 0;
    if (!itemSizeCache.has(key)) return start < top;
    const isSteady = !isScrolling && pointedRow(list) !== null;
    return !isSteady && end <= top && scrollDirection !== 'backward';
  };
}
