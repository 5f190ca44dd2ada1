import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useParams } from 'react-router';
import type { ProductDetail } from '../../../contract/products/schema.ts';
import { Discussion } from '../../features/comments/discussion.tsx';
import { NewsSlot } from '../../features/live/news-slot.tsx';
import { ProductHero } from '../../features/products/product-hero.tsx';
import { ProductNeighbours } from '../../features/products/product-neighbours.tsx';
import { ProductSkeleton } from '../../features/products/product-skeleton.tsx';
import { ProductStats } from '../../features/products/product-stats.tsx';
import { productDetailOptions } from '../../features/products/queries.ts';
import { Screenshots } from '../../features/products/screenshots.tsx';
import { TeamList } from '../../features/products/team-list.tsx';
import { SaveButton } from '../../features/saved/save-button.tsx';
import { ShareButton } from '../../features/sharing/share-button.tsx';
import { UpvoteButton } from '../../features/upvotes/upvote-button.tsx';
import { useApi } from '../../lib/api-context.tsx';
import { useDocumentHead, useSiteName } from '../../lib/document-head.ts';
import { useReadOnArrival } from '../../lib/navigation.tsx';
import { findListedProduct } from '../../lib/product-cache.ts';
import { BackLink } from './back-link.tsx';
import { missingProductHead, productHead } from './head.ts';
import { ProductFailure, ProductMissing } from './product-states.tsx';
import { useCommentsScroll } from './use-comments-scroll.ts';

export function ProductScreen() {
  const { id = '' } = useParams();
  const client = useQueryClient();
  const { data, isPending, isError } = useQuery({
    ...productDetailOptions(useApi(), id),
    ...useReadOnArrival(),
    // Known from a list, a product is shown at once, and completed when the whole answer is there.
    placeholderData: () => findListedProduct(client, id),
  });
  const siteName = useSiteName();
  useDocumentHead(
    data
      ? productHead(data.product, siteName)
      : missingProductHead(siteName, isPending ? 'Loading product...' : undefined),
  );
  useCommentsScroll(Boolean(data));

  return (
    <div className="product-page">
      <div className="product-bar">
        <BackLink />
        {data && <ProductNeighbours previousId={data.previousId} nextId={data.nextId} />}
      </div>
      {isPending && <ProductSkeleton />}
      {isError && !data && <ProductFailure />}
      {data === null && <ProductMissing />}
      {data && <ProductContent key={id} detail={data} />}
    </div>
  );
}

function ProductContent({ detail: { product } }: { detail: ProductDetail }) {
  const { id, name, upvotes } = product;
  return (
    <div className="product-columns">
      <div className="product-page-main">
        <ProductHero
          product={product}
          vote={<UpvoteButton productId={id} productName={name} upvotes={upvotes} size="large" />}
          share={
            <>
              <SaveButton product={product} look="word" />
              <ShareButton product={product} />
            </>
          }
        />
        <Screenshots productName={name} screenshots={product.screenshots} />
        <Discussion productId={id} count={product.comments} news={<NewsSlot productId={id} />} />
      </div>
      <aside className="product-side" aria-label="About this product">
        <TeamList team={product.team} />
        <ProductStats product={product} />
      </aside>
    </div>
  );
}
