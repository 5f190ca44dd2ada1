import { useEffect } from 'react';
import { useLocation } from 'react-router';
import { paths } from '../../../contract/paths.ts';
import { useDocumentHead, useSiteName } from '../../lib/document-head.ts';
import { useHasNavigated } from '../../lib/navigation.tsx';
import { Link } from '../../ui/link.tsx';
import { Notice } from '../../ui/notice.tsx';
import { PageHeading } from '../../ui/page-heading.tsx';
import { notFoundHead } from './head.ts';

export function NotFound() {
  const { pathname } = useLocation();
  const navigated = useHasNavigated();
  useDocumentHead(notFoundHead(useSiteName()));
  useEffect(() => {
    // A path that the server was asked for is in the server's log already.
    if (navigated) console.warn(`Page not found: ${pathname}`);
  }, [navigated, pathname]);

  return (
    <Notice tone="lost">
      <PageHeading className="notice-number">404</PageHeading>
      <p className="notice-title">Oops! Page not found</p>
      <div className="notice-actions">
        <Link className="button" data-tone="primary" to={paths.home}>
          Return to Home
        </Link>
      </div>
    </Notice>
  );
}
