import { COMMENT_DEFAULTS } from '../../contract/comments/defaults.ts';
import { isProductId } from '../../contract/products/product-id.ts';
import type { TeamMember } from '../../contract/products/schema.ts';
import { isStorableText } from '../../contract/text.ts';
import type { PartialProduct } from '../products/complete-product.ts';
import type { FileColumns, ImportField } from './fields.ts';
import { PRODUCT_BOUNDS } from './product-bounds.ts';
import { readDate } from './read-date.ts';
import { splitList } from './read-list.ts';
import { slugOf } from './slug.ts';
import { cellOf, isRecord, type SourceValues } from './source-record.ts';

/** What a row says about a product: a field that it does not have says nothing, a blank one asks for the default. */
export type ProductPatch = Omit<PartialProduct, 'id'> & {
  id?: string | undefined;
  /** The id that the file gave, where it had to be made legal. */
  rawId?: string | undefined;
};

/** Why a field cannot be taken. */
class FieldFault extends Error {}

export interface ReadProductOptions {
  columns: FileColumns;
  slugifyIds: boolean;
  onFault(field: ImportField, reason: string): void;
}

/** Reads a row. Every field that is wrong is told to `onFault`, and then missing in what is returned. */
export function readProduct(values: SourceValues, { columns, slugifyIds, onFault }: ReadProductOptions): ProductPatch {
  const patch: ProductPatch = {};
  for (const [field, column] of columns.pairs()) {
    const value = cellOf(values, column);
    // The first column of a field that is there counts.
    if (value === undefined || patch[field] !== undefined) continue;
    try {
      if (field === 'id') Object.assign(patch, readId(textOf(value, 'addressCharacters'), slugifyIds));
      else Object.assign(patch, { [field]: READERS[field](value) });
    } catch (error) {
      if (!(error instanceof FieldFault)) throw error;
      onFault(field, error.message);
    }
  }
  return patch;
}

const READERS: Record<Exclude<ImportField, 'id'>, (value: unknown) => unknown> = {
  name: (value) => textOf(value, 'nameCharacters'),
  description: (value) => textOf(value, 'descriptionCharacters'),
  image: readAddress,
  tags: (value) =>
    bounded([...new Set(listOf(value).map((tag) => textOf(tag, 'tagCharacters')))].filter(Boolean), 'tags'),
  category: (value) => textOf(value, 'shortTextCharacters'),
  maker: (value) => textOf(value, 'shortTextCharacters'),
  launchDate: readLaunchDate,
  team: (value) => bounded(listOf(value).map(readMember), 'team'),
  screenshots: (value) => bounded(listOf(value).map(readAddress).filter(Boolean), 'screenshots'),
  createdAt: readInstant,
};

function readId(text: string, slugifyIds: boolean): Pick<ProductPatch, 'id' | 'rawId'> {
  if (text === '') return {};
  if (isProductId(text)) return { id: text };
  const shown = text.length > 80 ? `${text.slice(0, 80)}…` : text;
  if (!slugifyIds) {
    throw new FieldFault(`'${shown}' is not an id: 1 to 64 of a-z, 0-9 and - (--slugify-ids makes such ids legal)`);
  }
  const slug = slugOf(text, 64);
  if (slug === '') throw new FieldFault(`nothing of '${shown}' can be part of an id: a-z, 0-9 and -`);
  return { id: slug, rawId: text };
}

/** Trimmed. Numbers are taken as they are written, since a year or a version is often one. */
function textOf(value: unknown, bound: `${string}Characters` & keyof typeof PRODUCT_BOUNDS): string {
  if (value === null) return '';
  if (typeof value !== 'string' && typeof value !== 'number') throw new FieldFault('this must be a text');
  const text = String(value).trim();
  if (!isStorableText(text)) {
    throw new FieldFault(
      text.includes('\0') ? 'it holds a NUL character' : 'it holds half a character (a lone surrogate)',
    );
  }
  const most = PRODUCT_BOUNDS[bound];
  // Cheap for nearly all: there are at least half as many code points as code units.
  const length = text.length > most ? [...text].length : text.length;
  if (length > most) throw new FieldFault(`${length} characters are too many: at most ${most}`);
  return text;
}

function listOf(value: unknown): unknown[] {
  if (value === null) return [];
  if (Array.isArray(value)) return value;
  if (typeof value === 'string') return splitList(value);
  throw new FieldFault('this must be a list, or a text that can be split into one');
}

function bounded<Item>(items: Item[], bound: 'tags' | 'team' | 'screenshots'): Item[] {
  const most = PRODUCT_BOUNDS[bound];
  if (items.length > most) throw new FieldFault(`${items.length} are too many: at most ${most}`);
  return items;
}

/** A web address, a path on this site, or the name of a local picture, which is looked at later. */
function readAddress(value: unknown): string {
  const address = textOf(value, 'addressCharacters');
  if (address === '' || address.startsWith('/') || isLocalPicture(address)) return address;
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(address)?.[1]?.toLowerCase();
  const isUsable =
    scheme === 'data' ? /^data:image\//i.test(address) : /^https?$/.test(scheme ?? '') && URL.canParse(address);
  if (!isUsable) throw new FieldFault(`'${address.slice(0, 80)}' is not an http or https address`);
  return address;
}

/** Whether an address is neither one of the web nor of this site, and so can only be a file of the operator's. */
export function isLocalPicture(address: string): boolean {
  return address !== '' && !address.startsWith('/') && !/^[a-z][a-z0-9+.-]*:/i.test(address);
}

/** A member is an object, or just a name. */
function readMember(value: unknown): TeamMember {
  const member = isRecord(value) ? value : { name: value };
  const read = (key: keyof TeamMember) => textOf(cellOf(member, key) ?? null, 'shortTextCharacters');
  const name = read('name');
  if (name === '') throw new FieldFault('a member of the team has no name');
  return {
    name,
    avatar: readAddress(cellOf(member, 'avatar') ?? null) || COMMENT_DEFAULTS.authorAvatar,
    role: read('role'),
  };
}

/** Kept as the text that is shown; but a date that does not exist is a mistake there too. */
function readLaunchDate(value: unknown): string {
  const text = textOf(value, 'shortTextCharacters');
  if (readDate(text) === 'impossible') throw new FieldFault(`'${text}' is a date that does not exist`);
  return text;
}

function readInstant(value: unknown): string | undefined {
  const text = textOf(value, 'shortTextCharacters');
  if (text === '') return undefined;
  const instant = readDate(text);
  if (instant === 'impossible') throw new FieldFault(`'${text}' is a date that does not exist`);
  if (instant === undefined) {
    throw new FieldFault(
      `'${text.slice(0, 80)}' is not a date that is understood, such as 2023-01-22 or 2023-01-22T10:00:00+01:00`,
    );
  }
  return instant;
}
