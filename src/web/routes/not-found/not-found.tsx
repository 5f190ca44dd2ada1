import { useEffect } from 'react';
import * as paths from '../../../contract/paths.ts';
import { t } from '../../language/translate.ts';
import { unlistedHead, useDocumentHead, useSite } from '../../routing/document-head.ts';
import { useHasNavigated, useLocation } from '../../routing/router.tsx';
import { Notice, NoticeLink } from '../../ui/notice.tsx';
import { PageHeading } from '../../ui/page-heading.tsx';

export function NotFound() {
  const { pathname } = useLocation();
  const navigated = useHasNavigated();
  useDocumentHead(unlistedHead('Page not found', useSite()));
  useEffect(() => {
    // If the browser requested the path from the server, the server has already logged it.
    if (navigated) console.warn(`Page not found: ${pathname}`);
  }, [navigated, pathname]);

  return (
    <Notice tone="lost">
      <PageHeading className="notice-number">404</PageHeading>
      <p className="notice-title">{t('Oops! Page not found')}</p>
      <NoticeLink to={paths.home}>{t('Return to Home')}</NoticeLink>
    </Notice>
  );
}
