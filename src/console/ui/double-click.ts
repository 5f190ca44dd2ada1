import { type MouseEvent, useRef } from 'react';

/** Clicks within this time and distance of each other are a double click. */
const DOUBLE_CLICK_MS = 500;
const DOUBLE_CLICK_PX = 16;

/**
 * Returns a handler for the capture phase that stops the further clicks of a double click if the first one has moved
 * another row under the pointer. The operator has not read that row.
 */
export function useDoubleClickGuard(): (event: MouseEvent<HTMLElement>) => void {
  const first = useRef({ row: null as Element | null, x: 0, y: 0, at: Number.NEGATIVE_INFINITY });

  return (event) => {
    const { target, clientX: x, clientY: y, timeStamp: at, detail } = event;
    // Keys and scripts click without a position.
    if (detail === 0) return;
    const row = target instanceof Element ? target.closest('.list-row') : null;
    const before = first.current;
    const isDouble = at - before.at < DOUBLE_CLICK_MS && Math.hypot(x - before.x, y - before.y) < DOUBLE_CLICK_PX;
    if (isDouble && row !== before.row) {
      before.at = at;
      event.preventDefault();
      event.stopPropagation();
    } else first.current = { row, x, y, at };
  };
}
