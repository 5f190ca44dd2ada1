import { useEffect } from 'react';
import * as paths from '../../../contract/paths.ts';
import { taglineOf } from '../../../contract/site.ts';
import { t, translated } from '../../language/translate.ts';
import { type PageHead, type SiteWords, useDocumentHead, useSite } from '../../routing/document-head.ts';
import { useHasNavigated, useLocation } from '../../routing/router.tsx';
import { Notice, NoticeLink } from '../../ui/notice.tsx';
import { PageHeading } from '../../ui/page-heading.tsx';

export function notFoundHead(site: SiteWords): PageHead {
  return { title: `${t('Page not found')} · ${site.name}`, description: translated(taglineOf(site)), noindex: true };
}

export function NotFound() {
  const { pathname } = useLocation();
  const navigated = useHasNavigated();
  useDocumentHead(notFoundHead(useSite()));
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
