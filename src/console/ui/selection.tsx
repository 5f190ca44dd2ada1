import { type ComponentProps, useState } from 'react';
import { formatCount } from '../../contract/text.ts';
import type { Pages } from '../api/pages.ts';

export interface RowState {
  isSelected: boolean;
  /** Selects or deselects the row and, with `isRange`, all rows between it and the last toggled row. */
  select(isSelected: boolean, isRange: boolean): void;
}

/** The checkbox of a row. A click with Shift selects or deselects a range. */
export function SelectBox({ name, state }: { name: string; state: RowState }) {
  return (
    <label className="select-box">
      <input
        type="checkbox"
        checked={state.isSelected}
        onChange={({ target, nativeEvent }) =>
          state.select(target.checked, nativeEvent instanceof MouseEvent && nativeEvent.shiftKey)
        }
      />
      <span className="visually-hidden">Select {name}</span>
    </label>
  );
}

interface SelectionBarProps extends ComponentProps<'section'> {
  count: number;
  onClear: () => void;
}

/** The bar with the buttons (children) for the selected items. */
export function SelectionBar({ count, onClear, children, ...props }: SelectionBarProps) {
  return (
    <section {...props} className="choice-bar" aria-label="Selected items">
      <span>{count} selected</span>
      {children}
      <button type="button" className="button" data-tone="quiet" onClick={onClear}>
        Clear
      </button>
    </section>
  );
}

interface ListStatusProps {
  pages: Pick<Pages<object>, 'id' | 'count' | 'hasMore'>;
  selected: number;
}

/**
 * Tells screen readers how many items another search or filter has found, and how many items are selected, because
 * neither moves the focus.
 */
export function ListStatus({ pages: { id, count, hasMore }, selected }: ListStatusProps) {
  const [last, setLast] = useState({ id, selected, text: '' });
  const found = count === 0 ? 'Nothing found' : `${formatCount(count)}${hasMore ? ' or more' : ''} found`;
  if (last.id !== id) {
    // A search without a match so far may still find one.
    if (count > 0 || !hasMore) setLast({ id, selected, text: found });
  } else if (last.selected !== selected) setLast({ id, selected, text: `${formatCount(selected)} selected` });
  // Always rendered, because screen readers announce only changes to an existing status element.
  return (
    <p className="visually-hidden" role="status">
      {last.text}
    </p>
  );
}
