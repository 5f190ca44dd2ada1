import { type MouseEvent, useRef } from 'react';

/** Clicks within this time and distance of each other are a double click. */
const DOUBLE_CLICK_MS = 500;
const DOUBLE_CLICK_PX = 16;

/** How long clicks and keys are ignored after rows have moved: the operator cannot have read them yet. */
export const IGNORE_INPUT_MS = 500;

/** Rows that move within this time after a click count as moved by the click. Long enough for a slow device. */
const CAUSED_MS = 1_000;

export interface ClickGuard {
  /** A handler for the capture phase. */
  onClick: (event: MouseEvent<HTMLElement>) => void;
  /**
   * Must be called with the rows that have moved or disappeared. Ignores clicks on rows for `IGNORE_INPUT_MS`, except
   * on the last clicked row if it has stayed in place. If that row moved or disappeared within `CAUSED_MS` after its
   * click, ignores only the further clicks of a double click.
   */
  pause: (rows: readonly Element[]) => void;
}

/**
 * Ignores clicks on what the operator cannot have read yet: repeated clicks after the first one has moved another row
 * or another button of its row under the pointer, and clicks right after live updates have moved rows.
 */
export function useClickGuard(): ClickGuard {
  const first = useRef({
    row: null as Element | null,
    button: null as Element | null,
    x: 0,
    y: 0,
    at: Number.NEGATIVE_INFINITY,
  });
  const pausedAt = useRef(Number.NEGATIVE_INFINITY);

  return {
    onClick(event) {
      const { target, clientX: x, clientY: y, timeStamp: at, detail } = event;
      // Clicks from the keyboard or a script have no position. They are never ignored.
      if (detail === 0) return;
      const row = target instanceof Element ? target.closest('.list-row') : null;
      const button = target instanceof Element ? target.closest('button') : null;
      const before = first.current;
      const isDouble = at - before.at < DOUBLE_CLICK_MS && Math.hypot(x - before.x, y - before.y) < DOUBLE_CLICK_PX;
      const isUnread = row !== null && row !== before.row && at - pausedAt.current < IGNORE_INPUT_MS;
      if (isUnread || (isDouble && (row !== before.row || button !== before.button))) {
        if (isDouble) before.at = at;
        event.preventDefault();
        event.stopPropagation();
      } else first.current = { row, button, x, y, at };
    },
    pause(rows) {
      const { row: own, at } = first.current;
      const now = performance.now();
      const isOwn = own?.isConnected !== true || rows.includes(own);
      if (isOwn) first.current.row = null;
      if (!isOwn || now - at >= CAUSED_MS) pausedAt.current = now;
    },
  };
}
