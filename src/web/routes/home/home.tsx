import { useEffect } from 'react';
import { useLocation, useSearchParams } from 'react-router';
import { NewsSlot } from '../../features/live/news-slot.tsx';
import { readFilters } from '../../features/products/filters.ts';
import { ActiveFilters, SortLinks } from '../../features/products/list-toolbar.tsx';
import { ProductList } from '../../features/products/product-list.tsx';
import { SaveButton } from '../../features/saved/save-button.tsx';
import { UpvoteButton } from '../../features/upvotes/upvote-button.tsx';
import { NewMarker } from '../../features/visits/new-marker.tsx';
import { useDocumentHead, useSiteName } from '../../lib/document-head.ts';
import { rememberList } from '../../lib/list-return.ts';
import { homeHead } from './head.ts';
import { Landscapes } from './landscapes.tsx';
import { WelcomeBanner } from './welcome-banner.tsx';

export function Home() {
  const [params] = useSearchParams();
  const { pathname, search, key } = useLocation();
  const filters = readFilters(params);
  useDocumentHead(homeHead(filters, useSiteName()));
  useEffect(() => rememberList({ href: `${pathname}${search}`, key }), [pathname, search, key]);

  return (
    <>
      <WelcomeBanner />
      <div className="home-columns">
        <section className="home-list" aria-labelledby="list-title">
          <div className="list-head">
            <h2 id="list-title" tabIndex={-1}>
              Top Products Launching Today
            </h2>
            <SortLinks filters={filters} />
          </div>
          <ActiveFilters filters={filters} />
          <NewsSlot />
          <ProductList
            filters={filters}
            renderParts={(product) => ({
              marker: <NewMarker createdAt={product.createdAt} />,
              save: <SaveButton product={product} />,
              vote: <UpvoteButton productId={product.id} productName={product.name} upvotes={product.upvotes} />,
            })}
          />
        </section>
        <Landscapes />
      </div>
    </>
  );
}
