import { fieldOf, PRODUCT_FIELD_NAMES, type ProductFieldName } from '../../../contract/products/fields.ts';
import { FocusableButton } from '../../ui/focusable-button.tsx';
import type { ChosenFile } from './read-file.ts';

/**
 * The column from which each field is imported. Without a column, existing products keep the field's value, and new
 * products get its default value.
 */
export type ColumnChoice = Partial<Record<ProductFieldName, string>>;

/** Common column names in files of other sites, in lower case, without spaces or punctuation. */
const SYNONYMS: Partial<Record<ProductFieldName, readonly string[]>> = {
  id: ['slug', 'key', 'identifier'],
  name: ['title', 'product', 'productname'],
  description: ['tagline', 'summary', 'about', 'text', 'body'],
  image: ['logo', 'icon', 'picture', 'thumbnail', 'imageurl', 'logourl'],
  tags: ['topics', 'keywords', 'labels'],
  category: ['type', 'section', 'kind'],
  maker: ['author', 'company', 'creator', 'vendor', 'makers'],
  launchDate: ['launched', 'date', 'launch'],
  team: ['members', 'people'],
  screenshots: ['images', 'pictures', 'gallery', 'media'],
  createdAt: ['created', 'launchedat', 'publishedat', 'timestamp', 'listedsince'],
};

/**
 * Guesses the column for each field: first by the field's name in JSON or in the table, then by its label or a synonym.
 */
export function guessColumns(columns: readonly string[]): ColumnChoice {
  const free = new Set(columns);
  const choice: ColumnChoice = {};
  const take = (field: ProductFieldName, names: readonly string[]) => {
    const found = choice[field] === undefined && [...free].find((column) => names.includes(plain(column)));
    if (!found) return;
    choice[field] = found;
    free.delete(found);
  };
  for (const field of PRODUCT_FIELD_NAMES) take(field, [plain(field), plain(fieldOf(field).column)]);
  for (const field of PRODUCT_FIELD_NAMES) take(field, [plain(fieldOf(field).label), ...(SYNONYMS[field] ?? [])]);
  return choice;
}

/**
 * Returns the values of `--map`: `field=column` for each assigned column, and `field=` for each other field whose name
 * is also a column of the file, because the import would otherwise read that column.
 */
export function mapTexts(choice: ColumnChoice, columns: readonly string[]): string[] {
  return PRODUCT_FIELD_NAMES.flatMap((field) => {
    const column = choice[field];
    if (column !== undefined) return `${field}=${column}`;
    return columns.includes(field) || columns.includes(fieldOf(field).column) ? `${field}=` : [];
  });
}

function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '');
}

interface Props {
  chosen: ChosenFile;
  choice: ColumnChoice;
  slugifyIds: boolean;
  isBusy: boolean;
  onChange: (choice: ColumnChoice, slugifyIds?: boolean) => void;
  onCheck: () => void;
}

/** A form that assigns columns to fields and shows the first value of each column as an example. */
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
        <FocusableButton type="submit" data-tone="outline" isDisabled={isBusy}>
          Dry run
        </FocusableButton>
      </div>
    </form>
  );
}
