import type { Virtualizer } from '@tanstack/react-virtual';
import { type RefObject, useLayoutEffect, useState } from 'react';
import type { ClickGuard } from './click-guard.ts';

type ListRef = RefObject<HTMLElement | null>;
type AdjustScroll = Virtualizer<Window, Element>['shouldAdjustScrollPositionOnItemSizeChange'];

const isTouchScreen = () => window.matchMedia('(hover: none)').matches;

/**
 * Returns the row under the mouse, or null if the operator uses a touch screen or operates the list with the keyboard.
 */
function pointedRow({ current: list }: ListRef): Element | null {
  if (isTouchScreen() || list?.querySelector(':focus-visible')) return null;
  return list?.querySelector('.list-row:hover') ?? null;
}

const topOf = (row: Element) => row.getBoundingClientRect().top;

/** Returns whether at least a part of a row is on the screen and not covered by a bar. */
export function isOnScreen(row: Element | null | undefined, bars: ScrollPadding): boolean {
  if (!row) return false;
  const { top, bottom } = row.getBoundingClientRect();
  return top < window.innerHeight - bars.end && bottom > bars.start;
}

function visibleRows({ current: list }: ListRef): Element[] {
  return [...(list?.children ?? [])].filter((row) => isOnScreen(row, { start: 0, end: 0 }));
}

/**
 * Keeps the row under the mouse in place when rows above it are added, removed or resized, because the operator may be
 * about to click one of its buttons. Instead, pauses clicks with `pause` if that row itself is removed or, on a touch
 * screen, where the next tap cannot be predicted, if any visible row moves. If `isSteady` is false, rows may move.
 * @returns a function that moves the list back to its usual place. Call it when the mouse leaves the list.
 */
export function useSteadyRow(list: ListRef, { pause }: ClickGuard, isSteady: boolean): () => void {
  const isTouch = isTouchScreen();
  const rows = isSteady ? (isTouch ? visibleRows(list) : [pointedRow(list)]) : [];
  const before = rows.flatMap((row) => (row ? [{ row, top: topOf(row) }] : []));

  useLayoutEffect(() => {
    const element = list.current;
    const changed = before.filter(({ row, top }) => !row.isConnected || Math.round(topOf(row) - top) !== 0);
    const [moved] = changed;
    if (!element || !moved) return;
    if (isTouch || !moved.row.isConnected) {
      pause(changed.map(({ row }) => row));
      return;
    }
    const distance = () => Math.round(topOf(moved.row) - moved.top);
    // A gap above the list takes the place of removed rows. If rows were added, the page scrolls instead.
    const gap = Math.max(0, gapOf(element) - distance());
    element.style.top = element.style.marginBottom = `${gap}px`;
    window.scrollBy(0, distance());
    // The page may be too short to scroll this far, so it is extended first.
    if (distance() !== 0) element.style.marginBottom = '100vh';
    window.scrollBy(0, distance());
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
 * Returns the virtualizer's rule for scrolling after a row above the screen has changed its height. It is the default
 * rule, except that it does not scroll while `useSteadyRow` keeps a row in place, because the row would move twice.
 */
export function adjustScrollOf(list: ListRef): NonNullable<AdjustScroll> {
  return ({ key, start, end }, _delta, { itemSizeCache, scrollOffset, scrollDirection, isScrolling }) => {
    const top = scrollOffset ?? 0;
    if (!itemSizeCache.has(key)) return start < top;
    const isSteady = !isScrolling && pointedRow(list) !== null;
    return !isSteady && end <= top && scrollDirection !== 'backward';
  };
}

/** The heights, in CSS pixels, of the bars that cover the content at the top and bottom of the screen. */
interface ScrollPadding {
  start: number;
  end: number;
}

/**
 * Measures the bars that cover a list: the sticky toolbar at the top and, at the bottom, the navigation of small
 * screens and the bar of selected items. Also makes the browser leave this space free when it scrolls to a focused
 * element.
 */
export function useScrollPadding(): ScrollPadding {
  const [padding, setPadding] = useState<ScrollPadding>({ start: 0, end: 0 });

  // Any render may change these heights. Setting equal heights causes no further render.
  useLayoutEffect(() => {
    const toolbar = document.querySelector('.toolbar');
    const covers = toolbar !== null && getComputedStyle(toolbar).position === 'sticky';
    const start = covers ? Math.ceil(toolbar.getBoundingClientRect().height) : 0;
    const end = Math.max(0, ...[...document.querySelectorAll('.side nav, .choice-bar')].map(coveredBelow));
    setPadding((last) => (last.start === start && last.end === end ? last : { start, end }));
  });

  useLayoutEffect(() => {
    const { style } = document.documentElement;
    style.scrollPaddingBlock = `${padding.start}px ${padding.end}px`;
    return () => {
      style.scrollPaddingBlock = '';
    };
  }, [padding]);
  return padding;
}

/** Returns the distance from the top of a fixed element to the bottom of the screen, or 0 for other elements. */
function coveredBelow(element: Element): number {
  if (getComputedStyle(element).position !== 'fixed') return 0;
  return Math.ceil(document.documentElement.clientHeight - element.getBoundingClientRect().top);
}
