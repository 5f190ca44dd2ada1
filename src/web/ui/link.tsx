import type { AnchorHTMLAttributes, MouseEvent } from 'react';
import { useHref, useLinkClickHandler } from 'react-router';

interface LinkProps extends Omit<AnchorHTMLAttributes<HTMLAnchorElement>, 'href' | 'target'> {
  /** A path of this site, or a fragment of the page. */
  to: string;
}

/** A way to another screen. React Router's own comes with what its framework form fetches ahead, 2 KB that nothing here uses. */
export function Link({ to, onClick, ...rest }: LinkProps) {
  const href = useHref(to);
  const follow = useLinkClickHandler<HTMLAnchorElement>(to);

  function click(event: MouseEvent<HTMLAnchorElement>): void {
    onClick?.(event);
    if (!event.defaultPrevented) follow(event);
  }

  return <a {...rest} href={href} onClick={click} />;
}
