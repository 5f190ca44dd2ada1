import { PageHeading } from '../../ui/page-heading.tsx';
import { SkeletonBox, SkeletonLine } from '../../ui/skeleton.tsx';

/** The shape of a product's page, for as long as nothing is known about it. */
export function ProductSkeleton() {
  return (
    <div className="product-page-main">
      <div className="product-hero">
        <SkeletonBox className="product-hero-picture" />
        <div className="product-hero-title">
          <PageHeading className="loading-heading">Loading product...</PageHeading>
          <SkeletonLine width="short" />
        </div>
        <div className="product-hero-text">
          <SkeletonLine width="long" />
          <SkeletonLine width="long" />
          <SkeletonLine width="medium" />
        </div>
      </div>
      <div className="screenshots" aria-hidden="true">
        <SkeletonBox className="screenshot-skeleton" />
        <SkeletonBox className="screenshot-skeleton" />
      </div>
    </div>
  );
}
