import { useEffect } from 'react';
import { paths } from '../../../contract/paths.ts';
import { t } from '../../language/translate.ts';
import { useDocumentHead, useSite } from '../../routing/document-head.ts';
import { useHasNavigated } from '../../routing/navigation.tsx';
import { useLocation } from '../../routing/router.tsx';
import { Notice, NoticeLink } from '../../ui/notice.tsx';
import { PageHeading } from '../../ui/page-heading.tsx';
import { notFoundHead } from './head.ts';

export function NotFound() {
  const { pathname } = useLocation();
  const navigated = useHasNavigated();
  useDocumentHead(notFoundHead(useSite()));
  useEffect(() => {
    // A path that the server was asked for is already in its log.
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
