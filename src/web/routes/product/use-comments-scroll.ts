import { useLayoutEffect } from 'react';
import { useLocation } from 'react-router';
import { COMMENTS_HASH } from '../../../contract/paths.ts';
import { prefersReducedMotion } from '../../lib/media.ts';

/** Specification, section 9: about 100 ms. */
const DELAY_MS = 100;

/** Scrolls to the discussion when the address asks for it, and moves the focus there, as a fragment link does. */
export function useCommentsScroll(ready: boolean): void {
  const { hash, key } = useLocation();
  // From the moment the page is there: other effects wait until picture and name have arrived from the card.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the same link pressed again is another navigation
  useLayoutEffect(() => {
    if (hash !== COMMENTS_HASH || !ready) return;
    const timer = setTimeout(() => {
      const section = document.querySelector(COMMENTS_HASH);
      section?.scrollIntoView({ behavior: prefersReducedMotion() ? 'instant' : 'smooth' });
      section?.querySelector('h2')?.focus({ preventScroll: true });
    }, DELAY_MS);
    return () => clearTimeout(timer);
  }, [hash, key, ready]);
}
