import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type MouseEvent, useLayoutEffect } from 'react';
import * as paths from '../../../contract/paths.ts';
import type { Product, ProductDetail } from '../../../contract/products/schema.ts';
import { useApi } from '../../api/api-context.tsx';
import { Discussion } from '../../features/comments/discussion.tsx';
import { LiveUpdatesSlot } from '../../features/live/live-updates-slot.tsx';
import { ProductHero } from '../../features/products/product-hero.tsx';
import { ProductNeighbours } from '../../features/products/product-neighbours.tsx';
import { useProductOptions } from '../../features/products/queries.ts';
import { Screenshots } from '../../features/products/screenshots.tsx';
import { SaveButton } from '../../features/saved/save-button.tsx';
import { ShareButton } from '../../features/sharing/share-button.tsx';
import { UpvoteButton } from '../../features/upvotes/upvote-button.tsx';
import { t, translated } from '../../language/translate.ts';
import { type PageHead, useDocumentHead, useSite } from '../../routing/document-head.ts';
import { lazyPart, PartView } from '../../routing/lazy-screen.tsx';
import { useLastList, useRetryOnMount } from '../../routing/navigation.tsx';
import { useProductId, useRouter } from '../../routing/router.tsx';
import { isTyping, scrollBehavior } from '../../ui/focus.ts';
import { ChevronLeftIcon } from '../../ui/icons.tsx';
import { hasModifier, Link } from '../../ui/link.tsx';
import { showLoadFailure } from '../../ui/toasts.ts';
import { ProductFailure, ProductMissing, ProductSkeleton } from './product-states.tsx';

/** Returns the document head of a product's page. All pages of its discussion have the same one. */
export function productHead(product: Product, siteName: string): PageHead {
  return {
    title: `${product.name} · ${siteName}`,
    description: translated(product.description, 'default:'),
    canonical: paths.product(product.id),
  };
}

/** The sidebar. Its code is not part of the initial bundle. */
export const PRODUCT_SIDE = lazyPart(() =>
  import('../../features/products/product-side.tsx').then((module) => module.ProductSide),
);

/** The related products. Their code is not part of the initial bundle. */
export const RELATED = lazyPart(() =>
  import('../../features/products/related-products.tsx').then((module) => module.RelatedProducts),
);

export function ProductScreen() {
  const id = useProductId();
  const { data, isPending, isLoadingError } = useQuery({
    ...useProductOptions(id),
    ...useRetryOnMount(),
  });
  const { hasSubmissions } = useSite();
  useCommentsScroll(Boolean(data));
  const missing = data === null && <ProductMissing />;

  return (
    <div>
      <div className="product-bar">
        <BackLink />
        {data && <ProductNeighbours detail={data} />}
      </div>
      {isPending && <ProductSkeleton />}
      {isLoadingError && <ProductFailure />}
      {data !== undefined && (hasSubmissions ? <PartView part={MAKER} fallback={missing} /> : missing)}
      {data && <ProductContent key={id} detail={data} />}
      {data && data.product.tags.length > 0 && <PartView part={RELATED} fallback={<div className="related" />} />}
    </div>
  );
}

function ProductContent({ detail: { product } }: { detail: ProductDetail }) {
  const { id, name, upvotes } = product;
  useDocumentHead(productHead(product, useSite().name));
  return (
    <div className="product-columns">
      <div className="product-page-main">
        <ProductHero
          product={product}
          vote={<UpvoteButton productId={id} productName={name} upvotes={upvotes} size="large" />}
          standing={<PartView part={STANDING} fallback={<div className="standing" />} />}
          share={
            <>
              <SaveButton product={product} look="word" />
              <ShareButton product={product} />
            </>
          }
        />
        <Screenshots productName={name} screenshots={product.screenshots} />
        <Discussion productId={id} count={product.comments} liveUpdates={<LiveUpdatesSlot productId={id} />} />
      </div>
      <aside className="product-side" aria-label={t('About this product')}>
        <PartView part={PRODUCT_SIDE} />
      </aside>
    </div>
  );
}

/** The delay before scrolling: about 100 ms (specification, section 9). */
const DELAY_MS = 100;

/**
 * Scrolls to the discussion or the comment that the URL names and moves the focus there, as the browser does for
 * fragment links. If the visitor is already typing, nothing moves.
 */
function useCommentsScroll(ready: boolean): void {
  const api = useApi();
  const client = useQueryClient();
  const {
    type,
    location: { hash, key },
  } = useRouter();
  // A layout effect runs as soon as the page is rendered. Other effects wait for the view transition from the card.
  // biome-ignore lint/correctness/useExhaustiveDependencies: pressing the same link again is another navigation
  useLayoutEffect(() => {
    // In a new document, the browser itself scrolls, and the visitor may have scrolled further before this code loaded.
    const mayScroll = type !== 'LOAD' || !window.scrollY;
    // Back and Forward restore the scroll position and the focus.
    if (type === 'POP' || !ready) return;
    if (hash.startsWith('#comment-')) {
      import('../../features/comments/show-comment.ts').then(
        (module) => module.showComment(api, client, hash, mayScroll),
        showLoadFailure,
      );
    }
    if (hash !== paths.COMMENTS_HASH) return;
    const timer = setTimeout(() => {
      if (isTyping()) return;
      if (mayScroll) document.querySelector(hash)?.scrollIntoView({ behavior: scrollBehavior() });
      document.getElementById('comments-title')?.focus({ preventScroll: true });
    }, DELAY_MS);
    return () => clearTimeout(timer);
  }, [hash, key, ready]);
}

/** A link to the list that the visitor came from, with its search and scroll position, or else to the home page. */
function BackLink() {
  const { navigate } = useRouter();
  const lastList = useLastList();

  function returnToList(event: MouseEvent): void {
    const list = lastList.current;
    if (!list || hasModifier(event)) return;
    event.preventDefault();
    navigate(list.href, { state: { returnTo: list.key } });
  }

  return (
    <Link className="back-link" to={paths.home} onClick={returnToList}>
      <ChevronLeftIcon />
      {t('Back to products')}
    </Link>
  );
}

/** The maker's view of the product on screen. Its code is not part of the initial bundle. */
export const MAKER = lazyPart(() => import('../submissions/maker.tsx').then((module) => module.Maker));

/** The standing. Its code is not part of the initial bundle. */
export const STANDING = lazyPart(() =>
  import('../../features/leaderboards/standing.tsx').then((module) => module.Standing),
);
