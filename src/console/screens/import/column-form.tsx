import { fieldOf, PRODUCT_FIELD_NAMES } from '../../../contract/products/fields.ts';
import type { ColumnChoice } from './guess-columns.ts';
import type { ChosenFile } from './read-file.ts';

interface Props {
  chosen: ChosenFile;
  choice: ColumnChoice;
  slugifyIds: boolean;
  isBusy: boolean;
  onChange: (choice: ColumnChoice, slugifyIds?: boolean) => void;
  onCheck: () => void;
}

/** Assigns columns to fields, with the first value of each as an example. */
export function ColumnForm({ chosen, choice, slugifyIds, isBusy, onChange, onCheck }: Props) {
  return (
    <form className="form" action={onCheck} onReset={(event) => event.preventDefault()}>
      <div className="columns">
        {PRODUCT_FIELD_NAMES.map((field) => {
          const column = choice[field];
          const example = column && chosen.rows.find(({ values }) => values[column])?.values[column];
          return (
            <label key={field} className="field">
              <span>{fieldOf(field).label}</span>
              <select
                value={column ?? ''}
                onChange={(event) => onChange({ ...choice, [field]: event.target.value || undefined })}
              >
                <option value="">None</option>
                {chosen.columns.map((name) => (
                  <option key={name} value={name}>
                    {name}
                  </option>
                ))}
              </select>
              <small className="quiet column-example">{example ? `“${example}”` : '\u00a0'}</small>
            </label>
          );
        })}
      </div>
      <div className="form-actions">
        <label className="check">
          <input type="checkbox" checked={slugifyIds} onChange={(event) => onChange(choice, event.target.checked)} />
          Slugify invalid ids
        </label>
        <button type="submit" className="button" data-tone="outline" disabled={isBusy}>
          Dry run
        </button>
      </div>
    </form>
  );
}
