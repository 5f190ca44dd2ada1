import { useState } from 'react';
import { formatCount } from '../../contract/text.ts';

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

/** Tells screen readers how many items are selected, because the key X selects a row without moving the focus. */
export function SelectionStatus({ count }: { count: number }) {
  const [wasUsed, setUsed] = useState(false);
  if (count > 0 && !wasUsed) setUsed(true);
  // Always rendered, because screen readers announce only changes to an existing status element.
  return (
    <p className="visually-hidden" role="status">
      {wasUsed && `${formatCount(count)} selected`}
    </p>
  );
}
