import { useLayoutEffect, useState } from 'react';

/** The heights, in CSS pixels, of the bars that cover the content at the top and bottom of the screen. */
interface ScrollPadding {
  start: number;
  end: number;
}

/**
 * Measures the bars that cover a list: the sticky toolbar at the top, and, at the bottom, the navigation of small
 * screens and the bar of selected items. Also makes the browser leave this space when it scrolls to a focused element.
 */
export function useScrollPadding(): ScrollPadding {
  const [padding, setPadding] = useState<ScrollPadding>({ start: 0, end: 0 });

  // Each render may change these heights. Setting unchanged ones has no effect.
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
