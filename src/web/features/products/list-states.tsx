import { paths } from '../../../contract/paths.ts';
import { Link } from '../../ui/link.tsx';
import { FailureNotice, Notice, NoticeLink } from '../../ui/notice.tsx';
import type { ProductFilters } from './filters.ts';
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

/** A search without matches so far, before the end of the list. */
export function ListSearching() {
  return (
    <p className="list-loading" role="status">
      Still searching...
    </p>
  );
}

export function ListFailure({ filters }: { filters: ProductFilters }) {
  return (
    <FailureNotice
      title={
        <p className="notice-title" role="alert">
          Failed to load products
        </p>
      }
      actions={
        filters.cursor && (
          <Link className="button" data-tone="outline" to={paths.list(withoutPlace(filters))} onClick={focusListTitle}>
            Start from the first page
          </Link>
        )
      }
    />
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
      <p>{reasonOf(filters)}</p>
      <NoticeLink to={paths.list(withoutTerms(filters))} onClick={focusListTitle}>
        Show all products
      </NoticeLink>
    </Notice>
  );
}

function reasonOf({ q, tag }: ProductFilters): string {
  if (!q) return 'No product has this tag.';
  const whose = tag ? `No name or description of a product tagged “${tag}”` : 'No product’s name or description';
  return `${whose} matches. A shorter word may find more.`;
}

function withoutPlace({ cursor: _cursor, ...filters }: ProductFilters): ProductFilters {
  return filters;
}

function withoutTerms({ sort }: ProductFilters): ProductFilters {
  return sort ? { sort } : {};
}
