import * as paths from '../../../contract/paths.ts';
import type { ProductSort } from '../../../contract/products/schema.ts';
import type { PlainMessage } from '../../language/catalogue.ts';
import { t } from '../../language/translate.ts';
import { CloseIcon } from '../../ui/icons.tsx';
import { Link } from '../../ui/link.tsx';
import { focusListTitle, type ProductFilters, pageNumberOf } from './filters.ts';

const SORTS: { sort: ProductSort; label: PlainMessage }[] = [
  { sort: 'newest', label: 'Newest' },
  { sort: 'top', label: 'Top' },
  { sort: 'discussed', label: 'Discussed' },
];

/** The sort orders of the list, as links, so each order has a URL. */
export function SortLinks({ filters }: { filters: ProductFilters }) {
  const { q, tag, sort: current = 'newest' } = filters;
  return (
    <nav className="sort-links" aria-label={t('Sort products')}>
      {SORTS.map(({ sort, label }) => (
        <Link
          key={sort}
          to={paths.list({ q, tag, sort: sort === 'newest' ? undefined : sort })}
          aria-current={sort === current ? 'true' : undefined}
        >
          {t(label)}
        </Link>
      ))}
    </nav>
  );
}

/** The active filters, each with a link that removes it. */
export function ActiveFilters({ filters }: { filters: ProductFilters }) {
  const { q, tag, sort } = filters;
  const page = pageNumberOf(filters);
  if (!q && !tag && !page) return null;
  return (
    <ul className="active-filters" aria-label={t('Active filters')}>
      {q && <FilterChip kind="Search" value={t('“{term}”', { term: q })} without={paths.list({ tag, sort })} />}
      {tag && <FilterChip kind="Tag" value={tag} without={paths.list({ q, sort })} />}
      {page && (
        <FilterChip
          kind="From page"
          value={String(page)}
          without={paths.list({ q, tag, sort })}
          // The link leads to the start of the list, which is the previous page only if this is the second page.
          rel={page === 2 ? 'prev' : undefined}
        />
      )}
    </ul>
  );
}

interface FilterChipProps {
  kind: PlainMessage;
  value: string;
  without: string;
  rel?: string | undefined;
}

function FilterChip({ kind, value, without, rel }: FilterChipProps) {
  return (
    <li>
      <Link className="filter-chip" to={without} rel={rel} onClick={focusListTitle}>
        <span className="visually-hidden">{`${t('Remove')} `}</span>
        <span>{t('{kind}:', { kind: t(kind) })}</span>{' '}
        <span className="filter-chip-value" dir="auto">
          {value}
        </span>
        <CloseIcon />
      </Link>
    </li>
  );
}
