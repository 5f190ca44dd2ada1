import { type ReactNode, useEffect, useRef } from 'react';
import { type Location, useHasNavigated, useLocation } from '../routing/router.tsx';
import { isTyping } from './focus.ts';

interface PageHeadingProps {
  children: ReactNode;
  className?: string | undefined;
  dir?: 'auto';
}

/** The location for which a heading was last rendered. */
let shown: Location;

/**
 * The only `h1` of the page. It takes the focus after navigation within the site, because otherwise, screen readers
 * would not announce the new page. If it replaces the heading that the same page showed while loading, it takes the
 * focus only if the visitor has not moved the focus.
 */
export function PageHeading({ children, className, dir }: PageHeadingProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  const location = useLocation();
  const navigated = useHasNavigated();

  // biome-ignore lint/correctness/useExhaustiveDependencies: a search on the first page must not move the focus
  useEffect(() => {
    const isFree = location !== shown || document.activeElement === document.body;
    if (navigated && isFree && !isTyping()) heading.current?.focus({ preventScroll: true });
  }, [location.pathname]);

  useEffect(() => {
    shown = location;
  });

  return (
    <h1 ref={heading} tabIndex={-1} className={className} dir={dir}>
      {children}
    </h1>
  );
}
