import * as paths from '../../../contract/paths.ts';
import { t } from '../../language/translate.ts';
import { Link } from '../../ui/link.tsx';
import { focusListTitle } from './filters.ts';

/** The tags of a product, each with a link to the products that have it. */
export function TagList({ tags }: { tags: readonly string[] }) {
  if (tags.length === 0) return null;
  return (
    <ul className="tag-list" aria-label={t('Tags')}>
      {[...new Set(tags)].map((tag) => (
        <li key={tag}>
          <Link className="tag" dir="auto" to={paths.list({ tag })} onClick={focusListTitle}>
            {tag}
          </Link>
        </li>
      ))}
    </ul>
  );
}
