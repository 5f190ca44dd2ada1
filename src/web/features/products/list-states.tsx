import { paths } from '../../../contract/paths.ts';
import { t } from '../../language/translate.ts';
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
        {t('Loading products...')}
      </p>
      <ProductCardSkeletons count={SKELETONS} />
    </div>
  );
}

/** A search without matches so far, before the end of the list. */
export function ListSearching() {
  return (
    <p className="list-loading" role="status">
      {t('Still searching...')}
    </p>
  );
}

export function ListFailure({ filters }: { filters: ProductFilters }) {
  return (
    <FailureNotice
      title={
        <p className="notice-title" role="alert">
          {t('Failed to load products')}
        </p>
      }
      actions={
        filters.cursor && (
          <Link className="button" data-tone="outline" to={paths.list(withoutPlace(filters))} onClick={focusListTitle}>
            {t('Start from the first page')}
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
        <p className="notice-title">{t('No products yet')}</p>
        <p>{t('The first wave is still on its way. Come back soon.')}</p>
      </Notice>
    );
  }
  return (
    <Notice>
      <p className="notice-title">
        {t('Nothing on the horizon for “{term}”', { term: filters.q ?? filters.tag ?? '' })}
      </p>
      <p>{reasonOf(filters)}</p>
      <NoticeLink to={paths.list(withoutTerms(filters))} onClick={focusListTitle}>
        {t('Show all products')}
      </NoticeLink>
    </Notice>
  );
}

function reasonOf({ q, tag }: ProductFilters): string {
  if (!q) return t('No product has this tag.');
  return tag
    ? t('No name or description of a product tagged “{tag}” matches. A shorter word may find more.', { tag })
    : t('No product’s name or description matches. A shorter word may find more.');
}

function withoutPlace({ cursor: _cursor, ...filters }: ProductFilters): ProductFilters {
  return filters;
}

function withoutTerms({ sort }: ProductFilters): ProductFilters {
  return sort ? { sort } : {};
}
