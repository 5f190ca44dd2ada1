import * as paths from '../../../contract/paths.ts';
import { PRODUCT_MESSAGES } from '../../../contract/products/messages.ts';
import { t } from '../../language/translate.ts';
import { unlistedHead, useDocumentHead, useSite } from '../../routing/document-head.ts';
import { FailureNotice, Notice, NoticeLink } from '../../ui/notice.tsx';
import { PageHeading } from '../../ui/page-heading.tsx';
import { SkeletonBox, SkeletonLine } from '../../ui/skeleton.tsx';

// Each state sets the document's title itself, because a maker sees the submission, with its own title, instead of
// `ProductMissing`.

export function ProductMissing() {
  useDocumentHead(unlistedHead(PRODUCT_MESSAGES.notFound, useSite()));
  return (
    <Notice tone="lost">
      <PageHeading className="notice-title">{t(PRODUCT_MESSAGES.notFound)}</PageHeading>
      <p>{t('It may have drifted away, or the address may be mistyped.')}</p>
      <NoticeLink to={paths.home}>{t('Return to home')}</NoticeLink>
    </Notice>
  );
}

export function ProductFailure() {
  useDocumentHead(unlistedHead('Failed to load products', useSite()));
  return <FailureNotice title={<PageHeading className="notice-title">{t('Failed to load products')}</PageHeading>} />;
}

/** The placeholder of a product's page while it loads. */
export function ProductSkeleton() {
  useDocumentHead(unlistedHead('Loading product...', useSite()));
  return (
    <div className="product-page-main">
      <div className="product-hero">
        <SkeletonBox className="product-hero-picture" />
        <div className="product-hero-title">
          <PageHeading className="loading-heading">{t('Loading product...')}</PageHeading>
          <SkeletonLine width="short" />
        </div>
        <div className="product-hero-text">
          <SkeletonLine width="long" />
          <SkeletonLine width="medium" />
        </div>
      </div>
      <div className="screenshots" aria-hidden="true">
        <SkeletonBox className="screenshot-skeleton" />
      </div>
    </div>
  );
}
