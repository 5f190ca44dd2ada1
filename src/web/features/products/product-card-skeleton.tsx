import { SkeletonBox, SkeletonLine } from '../../ui/skeleton.tsx';

/** The placeholder of a card while it loads. */
function ProductCardSkeleton() {
  return (
    <div className="card product-card" aria-hidden="true">
      <span className="product-card-rank" />
      <SkeletonBox className="product-card-picture" />
      <div className="product-card-body">
        <SkeletonLine width="short" />
        <div className="product-card-description">
          <SkeletonLine width="long" />
          <SkeletonLine width="medium" />
        </div>
        <SkeletonLine width="medium" />
      </div>
      <SkeletonBox className="product-card-vote-skeleton" />
    </div>
  );
}

export function ProductCardSkeletons({ count }: { count: number }) {
  return Array.from({ length: count }, (_, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: placeholders are all alike and never move
    <ProductCardSkeleton key={index} />
  ));
}
