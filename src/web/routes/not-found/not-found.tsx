import { useEffect } from 'react';
import { Link, useLocation } from 'react-router';
import { paths } from '../../../contract/paths.ts';
import { useDocumentTitle, useSiteName } from '../../lib/document-title.ts';
import { useHasNavigated } from '../../lib/navigation.tsx';
import { Notice } from '../../ui/notice.tsx';
import { PageHeading } from '../../ui/page-heading.tsx';

export const NOT_FOUND_TITLE = 'Page not found';

export function NotFound() {
  const { pathname } = useLocation();
  const navigated = useHasNavigated();
  useDocumentTitle(`${NOT_FOUND_TITLE} · ${useSiteName()}`);
  useEffect(() => {
    // A path that the server was asked for is in the server's log already.
    if (navigated) console.warn(`Page not found: ${pathname}`);
  }, [navigated, pathname]);

  return (
    <Notice>
      <PageHeading className="notice-number">404</PageHeading>
      <p className="notice-title">Oops! Page not found</p>
      <p>
        <Link to={paths.home}>Return to Home</Link>
      </p>
    </Notice>
  );
}
