import { type MouseEvent, useRef } from 'react';

/** Clicks within this time and distance of each other are a double click. */
const DOUBLE_CLICK_MS = 500;
const DOUBLE_CLICK_PX = 16;

/** Rows that have moved ignore clicks, and keys, for this time, in which the operator cannot have read them. */
export const READING_MS = 500;

/** Rows that move within this time after a click have moved because of it, even on a slow device. */
const CAUSED_MS = 1_000;

export interface ClickGuard {
  /** A handler for the capture phase. */
  onClick: (event: MouseEvent<HTMLElement>) => void;
  /** Stops clicks on rows for a moment, because `row` has moved or gone, unless the operator's own click caused it. */
  pause: (row: Element) => void;
}

/**
 * Stops clicks on rows that the operator has not read: the further clicks of a double click if the first one has moved
 * another row under the pointer, and clicks right after live updates have moved rows.
 */
export function useClickGuard(): ClickGuard {
  const first = useRef({ row: null as Element | null, x: 0, y: 0, at: Number.NEGATIVE_INFINITY });
  const pausedAt = useRef(Number.NEGATIVE_INFINITY);

  return {
    onClick(event) {
      const { target, clientX: x, clientY: y, timeStamp: at, detail } = event;
      // Keys and scripts click without a position.
      if (detail === 0) return;
      const row = target instanceof Element ? target.closest('.list-row') : null;
      const before = first.current;
      const isDouble = at - before.at < DOUBLE_CLICK_MS && Math.hypot(x - before.x, y - before.y) < DOUBLE_CLICK_PX;
      const isUnread = row !== null && at - pausedAt.current < READING_MS;
      if (isUnread || (isDouble && row !== before.row)) {
        if (isDouble) before.at = at;
        event.preventDefault();
        event.stopPropagation();
      } else first.current = { row, x, y, at };
    },
    pause(row) {
      const { row: own, at } = first.current;
      const now = performance.now();
      const isCaused = now - at < CAUSED_MS && (own === row || own?.isConnected !== true);
      if (isCaused) first.current.row = null;
      else pausedAt.current = now;
    },
  };
}
