import type { Product } from '../../../contract/products/schema.ts';
import { lazyPart, PartView } from '../../routing/lazy-screen.tsx';
import { ArrowUpIcon, BookmarkIcon } from '../../ui/icons.tsx';

const LIST_CARD = lazyPart(() => import('../home/home.tsx').then((module) => module.ListCard));

/** A preview of the product in the list. It is inert, and hidden from screen readers, which read the form instead. */
export function CardPreview({ product }: { product: Product }) {
  return (
    <div className="submission-card" aria-hidden="true" inert>
      <PartView
        part={LIST_CARD}
        fallback={<div className="card product-card submission-card-loading" />}
        product={product}
        rank={1}
        marker={null}
        save={
          <span className="button save-button" data-tone="quiet">
            <BookmarkIcon />
          </span>
        }
        vote={
          <span className="upvote">
            <ArrowUpIcon />
            {product.upvotes}
          </span>
        }
      />
    </div>
  );
}
