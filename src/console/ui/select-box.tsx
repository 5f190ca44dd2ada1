import type { RowState } from './list.tsx';

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
