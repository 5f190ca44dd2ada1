import { Link } from '../../ui/link.tsx';
import { Notice } from '../../ui/notice.tsx';
import { listHref, type ProductFilters } from './filters.ts';
import { focusListTitle } from './focus-list-title.ts';
import { ProductCardSkeletons } from './product-card-skeleton.tsx';

const SKELETONS = 6;

export function ListLoading() {
  return (
    <div className="product-list">
      <p className="list-loading" role="status">
        Loading products...
      </p>
      <ProductCardSkeletons count={SKELETONS} />
    </div>
  );
}

/** A search that found nothing yet and is not at the end of the list. */
export function ListSearching() {
  return (
    <p className="list-loading" role="status">
      Still searching...
    </p>
  );
}

export function ListFailure({ filters }: { filters: ProductFilters }) {
  return (
    <Notice tone="failure">
      <p className="notice-title" role="alert">
        Failed to load products
      </p>
      <p>The tide is out for a moment. Nothing is lost.</p>
      <div className="notice-actions">
        <button type="button" className="button" data-tone="primary" onClick={() => window.location.reload()}>
          Try again
        </button>
        {filters.cursor && (
          <Link className="button" data-tone="outline" to={listHref(withoutPlace(filters))} onClick={focusListTitle}>
            Start from the first page
          </Link>
        )}
      </div>
    </Notice>
  );
}

export function ListEmpty({ filters }: { filters: ProductFilters }) {
  if (!filters.q && !filters.tag) {
    return (
      <Notice>
        <p className="notice-title">No products yet</p>
        <p>The first wave is still on its way. Come back soon.</p>
      </Notice>
    );
  }
  return (
    <Notice>
      <p className="notice-title">Nothing on the horizon for “{filters.q ?? filters.tag}”</p>
      <p>No product’s name or description matches. A shorter word may find more.</p>
      <div className="notice-actions">
        <Link className="button" data-tone="primary" to={listHref(withoutTerms(filters))} onClick={focusListTitle}>
          Show all products
        </Link>
      </div>
    </Notice>
  );
}

function withoutPlace({ cursor: _cursor, page: _page, ...filters }: ProductFilters): ProductFilters {
  return filters;
}

function withoutTerms({ sort }: ProductFilters): ProductFilters {
  return sort ? { sort } : {};
}
