import { type ReactNode, useEffect, useRef } from 'react';
import { useLocation } from 'react-router';
import { useHasNavigated } from '../lib/navigation.tsx';

/** The page's one `h1`. It takes the focus when a visitor arrives from another page here, as a loaded document would. */
export function PageHeading({ children, className }: { children: ReactNode; className?: string }) {
  const heading = useRef<HTMLHeadingElement>(null);
  const { pathname } = useLocation();
  const navigated = useHasNavigated();
  const arrivedAt = useRef(navigated ? null : pathname);

  useEffect(() => {
    if (arrivedAt.current === pathname) return;
    arrivedAt.current = pathname;
    // Somebody who is typing a search goes on typing.
    if (document.activeElement instanceof HTMLInputElement) return;
    heading.current?.focus({ preventScroll: true });
  }, [pathname]);

  return (
    <h1 ref={heading} tabIndex={-1} className={className}>
      {children}
    </h1>
  );
}
