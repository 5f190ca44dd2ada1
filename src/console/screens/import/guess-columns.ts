import { fieldOf, PRODUCT_FIELD_NAMES, type ProductFieldName } from '../../../contract/products/fields.ts';

/** The column of each field. A field without one stays unchanged, or gets its default. */
export type ColumnChoice = Partial<Record<ProductFieldName, string>>;

/** The names that other sites and spreadsheets use for a field, without case, spaces and punctuation. */
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

/** Guesses the column of each field: by the field's own names first, then by common ones. */
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

/** `--map` texts: for chosen columns, and to ignore columns that have a field's name but were not chosen for it. */
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
