import { useEffect, useRef } from 'react';
import { useRouter } from '../../routing/router.tsx';

/** On a page that one comes back to, gives the focus to the link by which it was left, after the page's heading had it. */
export function useReturnFocus(): void {
  const { location, type } = useRouter();
  const { key, state } = location;
  /** The address of the link that had the focus last, by history entry. */
  const links = useRef(new Map<string, string>());

  useEffect(() => {
    const returnTo = (state as { returnTo?: string } | null)?.returnTo ?? (type === 'POP' ? key : '');
    const href = links.current.get(returnTo);
    const link = href && document.querySelector<HTMLElement>(`main a[href="${CSS.escape(href)}"]`);
    if (link && document.activeElement instanceof HTMLHeadingElement) link.focus({ preventScroll: true });

    const note = ({ target }: FocusEvent) => {
      const left = target instanceof HTMLAnchorElement && target.getAttribute('href');
      if (left) links.current.set(key, left);
    };
    document.addEventListener('focusin', note);
    return () => document.removeEventListener('focusin', note);
  }, [key, state, type]);
}
