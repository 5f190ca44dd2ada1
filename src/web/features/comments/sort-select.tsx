import type { CommentSort } from '../../../contract/comments/schema.ts';

const LABELS: Record<CommentSort, string> = { best: 'Best', newest: 'Newest', oldest: 'Oldest' };
const SORTS = Object.keys(LABELS) as CommentSort[];

interface SortSelectProps {
  sort: CommentSort;
  onChange: (sort: CommentSort) => void;
}

export function SortSelect({ sort, onChange }: SortSelectProps) {
  return (
    <label className="sort-select">
      <span className="visually-hidden">Sort comments</span>
      <select value={sort} onChange={(event) => onChange(event.currentTarget.value as CommentSort)}>
        {SORTS.map((value) => (
          <option key={value} value={value}>
            {LABELS[value]}
          </option>
        ))}
      </select>
    </label>
  );
}
