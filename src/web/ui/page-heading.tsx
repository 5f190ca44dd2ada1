import { type ReactNode, useEffect, useRef } from 'react';
import { useHasNavigated, useLocation } from '../routing/router.tsx';

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
  const arrivedAt = useRef(navigated ? null : pathname);

  useEffect(() => {
    if (arrivedAt.current === pathname) return;
    arrivedAt.current = pathname;
    // A visitor who is typing a search keeps the focus.
    if (document.activeElement instanceof HTMLInputElement) return;
    heading.current?.focus({ preventScroll: true });
  }, [pathname]);

  return (
    <h1 ref={heading} tabIndex={-1} className={className} dir={dir}>
      {children}
    </h1>
  );
}
