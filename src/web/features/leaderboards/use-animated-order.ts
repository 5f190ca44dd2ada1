import { type RefObject, useEffect, useLayoutEffect, useRef, useState } from 'react';
import type { LeaderboardEntry } from '../../../contract/leaderboards/schema.ts';
import { prefersReducedMotion } from '../../ui/focus.ts';

const SLIDE = { duration: 520, easing: 'cubic-bezier(0.2, 0.75, 0.2, 1)' } as const;

/** Events that may end the hold of a row, because the pointer or the focus has moved. */
const RELEASE_EVENTS = ['pointermove', 'pointerout', 'focusin', 'focusout'] as const;

/**
 * A hold is also checked at this interval, because a row may still count as pressed after the last event of a touch.
 */
const CHECK_INTERVAL_MS = 1_000;

interface AnimatedOrder {
  entries: readonly LeaderboardEntry[];
  /** Whether new ranks wait until the pointer or the focus leaves a row. */
  isHeld: boolean;
}

/**
 * Returns the displayed rows of a board. Rows whose rank changes slide to their new position. While a row that would
 * move is under the pointer or has the focus, all rows stay in place. `list` has one item with `data-product` for each
 * entry.
 */
export function useAnimatedOrder(
  latest: readonly LeaderboardEntry[],
  list: RefObject<HTMLElement | null>,
): AnimatedOrder {
  const [shown, setShown] = useState(latest);
  const [isHeld, setHeld] = useState(false);
  const tops = useRef<Map<string, number> | null>(null);

  useEffect(() => {
    if (shown === latest) return;
    const update = () => {
      if (isPinned(list.current, shown, latest)) {
        setHeld(true);
        return;
      }
      tops.current = isSameOrder(shown, latest) ? null : rowTops(list.current);
      setHeld(false);
      setShown(latest);
    };
    update();
    for (const release of RELEASE_EVENTS) document.addEventListener(release, update);
    const timer = setInterval(update, CHECK_INTERVAL_MS);
    return () => {
      clearInterval(timer);
      for (const release of RELEASE_EVENTS) document.removeEventListener(release, update);
    };
  }, [latest, shown, list]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: rows move when the displayed rows change
  useLayoutEffect(() => {
    const before = tops.current;
    tops.current = null;
    if (before !== null && !prefersReducedMotion()) animateMoves(list.current, before);
  }, [shown, list]);

  // Upvote counts are always current, so the visitor's own click shows even while the rows are held.
  const upvotes = new Map(latest.map((entry) => [entry.productId, entry.upvotes]));
  const entries = shown.map((entry) => ({ ...entry, upvotes: upvotes.get(entry.productId) ?? entry.upvotes }));
  return { entries, isHeld };
}

function isSameOrder(shown: readonly LeaderboardEntry[], latest: readonly LeaderboardEntry[]): boolean {
  return shown.every(({ productId }, index) => latest[index]?.productId === productId);
}

/**
 * Returns whether a row that would move is under the pointer or has the focus. On touch screens, a row is under the
 * pointer only while it is pressed.
 */
function isPinned(
  list: HTMLElement | null,
  shown: readonly LeaderboardEntry[],
  latest: readonly LeaderboardEntry[],
): boolean {
  const hasPointer = window.matchMedia('(hover: hover)').matches;
  const rows = list?.querySelectorAll<HTMLElement>(`li:focus-within, li:${hasPointer ? 'hover' : 'active'}`) ?? [];
  return [...rows].some(({ dataset }) => {
    const indexIn = (entries: readonly LeaderboardEntry[]) =>
      entries.findIndex(({ productId }) => productId === dataset.product);
    return indexIn(shown) !== indexIn(latest);
  });
}

function rowsOf(list: HTMLElement | null): HTMLElement[] {
  return [...(list?.querySelectorAll<HTMLElement>('li[data-product]') ?? [])];
}

function rowTops(list: HTMLElement | null): Map<string, number> {
  return new Map(rowsOf(list).map((row) => [row.dataset.product ?? '', row.getBoundingClientRect().top]));
}

/** Animates each row from its old position to the new one (FLIP). */
function animateMoves(list: HTMLElement | null, before: ReadonlyMap<string, number>): void {
  const moves = rowsOf(list).map((row) => ({
    row,
    by: (before.get(row.dataset.product ?? '') ?? Number.NaN) - row.getBoundingClientRect().top,
  }));
  for (const { row, by } of moves) {
    if (by) row.animate([{ transform: `translateY(${by}px)` }, { transform: 'none' }], SLIDE);
  }
}
