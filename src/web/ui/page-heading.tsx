import { type ReactNode, useEffect, useRef } from 'react';
import { useHasNavigated, useLocation } from '../routing/router.tsx';
import { isTyping } from './focus.ts';

interface PageHeadingProps {
  children: ReactNode;
  className?: string | undefined;
  dir?: 'auto';
}

/**
 * The only `h1` of the page. It takes the focus after navigation within the site, because screen readers would not
 * announce the new page otherwise.
 */
export function PageHeading({ children, className, dir }: PageHeadingProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  const { pathname } = useLocation();
  const navigated = useHasNavigated();

  // biome-ignore lint/correctness/useExhaustiveDependencies: a search on the first page must not move the focus
  useEffect(() => {
    if (navigated && !isTyping()) heading.current?.focus({ preventScroll: true });
  }, [pathname]);

  return (
    <h1 ref={heading} tabIndex={-1} className={className} dir={dir}>
      {children}
    </h1>
  );
}
