import { useEffect } from 'react';
import * as paths from '../../../contract/paths.ts';
import { taglineOf } from '../../../contract/site.ts';
import { useToday } from '../../features/leaderboards/use-today.ts';
import { LiveUpdatesSlot } from '../../features/live/live-updates-slot.tsx';
import { type ProductFilters, pageNumberOf, readFilters } from '../../features/products/filters.ts';
import { ActiveFilters, SortLinks } from '../../features/products/list-toolbar.tsx';
import { ProductCard } from '../../features/products/product-card.tsx';
import { ProductList } from '../../features/products/product-list.tsx';
import { SaveButton } from '../../features/saved/save-button.tsx';
import { UpvoteButton } from '../../features/upvotes/upvote-button.tsx';
import { lastVisitEnd, NewMarker, visits } from '../../features/visits/visits.tsx';
import { t, translated } from '../../language/translate.ts';
import { type PageHead, type SiteTitle, useDocumentHead, useSite } from '../../routing/document-head.ts';
import { lazyPart, PartView } from '../../routing/lazy-screen.tsx';
import { useLastList } from '../../routing/navigation.tsx';
import { useLocation, useSearchParams } from '../../routing/router.tsx';
import { useBrowserStore } from '../../storage/browser-store.ts';
import { Link } from '../../ui/link.tsx';
import { PageHeading } from '../../ui/page-heading.tsx';
import { Waves } from '../../ui/waves.tsx';

function homeTitle(filters: ProductFilters, siteName: string): string {
  const { q, tag } = filters;
  const page = pageNumberOf(filters);
  const what = q ? t('“{term}”', { term: q }) : tag ? t('{tag} products', { tag }) : t('Top Products Launching Today');
  return `${page ? t('{list}, page {page}', { list: what, page }) : what} · ${siteName}`;
}

/**
 * Returns the document head of a list. Only the whole list and the list of each tag are indexed: another order shows
 * the same products, later pages change with every launch, and the number of possible searches is unlimited.
 */
export function homeHead(filters: ProductFilters, site: SiteTitle, { empty = false } = {}): PageHead {
  const { q, tag } = filters;
  const tagline = translated(taglineOf(site));
  const head = {
    title: homeTitle(filters, site.name),
    description: tag && !q ? `${t('Tech products tagged {tag}.', { tag })} ${tagline}` : tagline,
  };
  if (q || (tag && empty)) return { ...head, noindex: true };
  // Tags are case-insensitive, so the canonical URL has them in lower case.
  return { ...head, canonical: paths.list(tag ? { tag: tag.toLowerCase() } : {}) };
}

/** The sidebar. Its code is not part of the initial bundle. */
export const LANDSCAPES = lazyPart(() => import('./landscapes.tsx').then((module) => module.Landscapes));

/** The news since the last visit. Only the browsers of returning visitors load its code. */
const SINCE_LAST_VISIT = lazyPart(() => import('./since-last-visit.tsx').then((module) => module.SinceLastVisit));

/** Exported for the preview of a submission, which loads this module on demand. */
export const ListCard = ProductCard;

export function Home() {
  const params = useSearchParams();
  const { pathname, search, key } = useLocation();
  const filters = readFilters(params);
  const site = useSite();
  useDocumentHead(homeHead(filters, site));
  const lastList = useLastList();
  const hasVisited = useBrowserStore(visits, (stored) => lastVisitEnd(stored) !== null);
  useEffect(() => {
    // A link back to the list must not open the submission dialog again.
    if (!params.has('submit')) lastList.current = { href: `${pathname}${search}`, key };
  }, [lastList, params, pathname, search, key]);

  return (
    <>
      <WelcomeBanner />
      <div className="home-columns">
        {/* First in the focus order, because it is shown over the banner. */}
        {hasVisited && <PartView part={SINCE_LAST_VISIT} />}
        <section className="home-list" aria-labelledby="list-title">
          <div className="list-head">
            <h2 id="list-title" tabIndex={-1}>
              {t('Top Products Launching Today')}
            </h2>
            <p className="list-order">{t(ORDERS[filters.sort ?? 'newest'])}</p>
            <div className="list-tools">
              <BoardsLink />
              <SortLinks filters={filters} />
            </div>
          </div>
          <ActiveFilters filters={filters} />
          <LiveUpdatesSlot />
          <ProductList
            filters={filters}
            renderParts={(product) => ({
              marker: <NewMarker createdAt={product.createdAt} />,
              save: <SaveButton product={product} />,
              vote: <UpvoteButton productId={product.id} productName={product.name} upvotes={product.upvotes} />,
            })}
          />
        </section>
        <PartView part={LANDSCAPES} />
      </div>
    </>
  );
}

/** Separate from `Home`, because it re-renders every minute. */
function BoardsLink() {
  const today = useToday();
  return (
    today && (
      <Link className="list-boards" to={paths.board(today)}>
        {t('Leaderboards')}
      </Link>
    )
  );
}

const ORDERS = { newest: 'Newest first', top: 'Most upvotes first', discussed: 'Most comments first' } as const;

function WelcomeBanner() {
  return (
    <section className="banner" aria-label={t('Welcome')}>
      <Waves />
      <div>
        <PageHeading>{t('Welcome to {site}', { site: useSite().name })}</PageHeading>
        <p>{t('Every big wave starts as a ripple. See what makers are launching, and lift what deserves to rise.')}</p>
      </div>
    </section>
  );
}
