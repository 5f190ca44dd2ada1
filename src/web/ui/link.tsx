import type { AnchorHTMLAttributes, ComponentProps, MouseEvent } from 'react';
import { localAddress } from '../language/translate.ts';
import { useRouter } from '../routing/router.tsx';

interface LinkProps extends Omit<AnchorHTMLAttributes<HTMLAnchorElement>, 'href' | 'target'> {
  /** A path on this site, with its query and fragment, or only a fragment. */
  to: string;
  /** State of the new history entry. */
  state?: unknown;
}

/** A link within the site. Navigation with it loads no new document. */
export function Link({ to, state, onClick, ...rest }: LinkProps) {
  const { location, navigate } = useRouter();
  const href = to.startsWith('#') ? location.pathname + to : to;

  function click(event: MouseEvent<HTMLAnchorElement>): void {
    onClick?.(event);
    if (event.defaultPrevented || event.button !== 0 || hasModifier(event)) return;
    event.preventDefault();
    navigate(href, { state });
  }

  return <a {...rest} href={localAddress(href)} onClick={click} />;
}

interface MoreLinkProps extends Omit<ComponentProps<'a'>, 'onClick'> {
  href: string;
  isBusy: boolean;
  onMore: () => void;
}

/**
 * A link to the next page of a list. `onMore` adds that page to the list on screen. Without JavaScript, the link leads
 * to a document that starts with that page.
 */
export function MoreLink({ href, isBusy, onMore, ...rest }: MoreLinkProps) {
  function loadHere(event: MouseEvent): void {
    if (hasModifier(event)) return;
    event.preventDefault();
    if (!isBusy) onMore();
  }

  return <a {...rest} data-tone="outline" href={localAddress(href)} aria-disabled={isBusy} onClick={loadHere} />;
}

/** Returns whether a click asks the browser for a new tab, a new window or a download. */
export function hasModifier(event: MouseEvent): boolean {
  return event.metaKey || event.ctrlKey || event.shiftKey || event.altKey;
}
