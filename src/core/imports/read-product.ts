import { COMMENT_DEFAULTS } from '../../contract/comments/defaults.ts';
import {
  fieldOf,
  isProductId,
  PRODUCT_FIELDS,
  type ProductField,
  type ProductFieldKind,
  type ProductFieldName,
  TEAM_MEMBER_LIMITS,
} from '../../contract/products/fields.ts';
import type { StoredProduct, TeamMember } from '../../contract/products/schema.ts';
import { HTTP_URL, isLongerThan, isStorableText, isVisible } from '../../contract/text.ts';
import type { PartialProduct } from '../products/save-products.ts';
import type { FileColumns } from './columns.ts';
import { readDate, slugOf, splitList } from './read-values.ts';
import { cellOf, isRecord, type SourceValues } from './source-record.ts';

/**
 * The fields of a product that a row contains. Missing fields stay unchanged, and blank ones get their defaults. A
 * blank time is `undefined`: an import then keeps the time of an existing product, and an edit is refused.
 */
export type ProductPatch = Omit<PartialProduct, 'id'> & {
  id?: string | undefined;
  /** The original id, if it had to be slugified. */
  rawId?: string | undefined;
  /** Whether any picture was given as the name of a local file, even if the file has been copied. */
  hasLocalPictures?: boolean;
};

/** The error of an invalid field, with the reason as its message. */
class FieldError extends Error {}

interface ReadProductOptions {
  columns: FileColumns;
  slugifyIds: boolean;
  separator: string;
  onError(field: ProductFieldName, reason: string): void;
}

/** Reads the fields of a row. Invalid fields are reported to `onError` and left out of the result. */
export function readProduct(
  values: SourceValues,
  { columns, slugifyIds, separator, onError }: ReadProductOptions,
): ProductPatch {
  const patch: ProductPatch = {};
  for (const [field, column] of columns.pairs()) {
    const value = cellOf(values, column);
    // If several columns map to the field, the first one with a value is used.
    if (value === undefined || patch[field] !== undefined) continue;
    try {
      if (field === 'id') Object.assign(patch, readId(textOf(value, RAW_ID), slugifyIds));
      else Object.assign(patch, { [field]: READERS[PRODUCT_FIELDS[field].kind](value, fieldOf(field), separator) });
    } catch (error) {
      if (!(error instanceof FieldError)) throw error;
      onError(field, error.message);
    }
  }
  return patch;
}

const READERS: Record<
  Exclude<ProductFieldKind, 'id'>,
  (value: unknown, field: ProductField, separator: string) => unknown
> = {
  text: textOf,
  dateText: readDateText,
  address: readAddress,
  time: readInstant,
  texts: (value, field, separator) =>
    bounded([...new Set(listOf(value, separator).map((item) => textOf(item, field)))].filter(isVisible), field),
  addresses: (value, field, separator) =>
    bounded(
      listOf(value, separator)
        .map((item) => readAddress(item, field))
        .filter(Boolean),
      field,
    ),
  team: (value, field, separator) => bounded(listOf(value, separator).map(readMember), field),
};

/** An id to be slugified may be as long as a URL. */
const RAW_ID = { maxCharacters: TEAM_MEMBER_LIMITS.maxAddressCharacters };

function readId(text: string, slugifyIds: boolean): Pick<ProductPatch, 'id' | 'rawId'> {
  if (text === '') return {};
  if (isProductId(text)) return { id: text };
  const shown = text.length > 80 ? `${text.slice(0, 80)}…` : text;
  const slug = slugOf(text, 64);
  if (!slugifyIds) {
    const hint = slug === '' ? '' : ` (slugified: '${slug}')`;
    throw new FieldError(`'${shown}' is not an id: use 1 to 64 characters from a-z, 0-9 and -${hint}`);
  }
  if (slug === '')
    throw new FieldError(`'${shown}' cannot be slugified, because it contains no a-z or 0-9: give the row another id`);
  return { id: slug, rawId: text };
}

/** Reads a text and trims it. Numbers are accepted, because years and versions are often written as numbers. */
function textOf(value: unknown, { maxCharacters }: Pick<ProductField, 'maxCharacters'>): string {
  if (value === null) return '';
  if (typeof value !== 'string' && typeof value !== 'number') throw new FieldError('it must be text');
  // JSON.parse rounds larger integers, so two different ids could become equal.
  if (typeof value === 'number' && Math.abs(value) > Number.MAX_SAFE_INTEGER)
    throw new FieldError('the number has too many digits: write it as text, in quotes');
  const text = String(value).trim();
  if (!isStorableText(text)) {
    throw new FieldError(
      text.includes('\0') ? 'it contains a NUL character' : 'it contains half a character (a lone surrogate)',
    );
  }
  if (isLongerThan(text, maxCharacters)) {
    throw new FieldError(`it has ${[...text].length} characters; at most ${maxCharacters} are allowed`);
  }
  return text;
}

function listOf(value: unknown, separator: string): unknown[] {
  if (value === null) return [];
  if (Array.isArray(value)) return value;
  if (typeof value === 'string') return splitList(value, separator);
  if (isRecord(value)) return [value];
  throw new FieldError('it must be a list, or text that can be split into a list');
}

function bounded<Item>(items: Item[], { maxItems = Infinity }: ProductField): Item[] {
  if (items.length > maxItems) throw new FieldError(`it has ${items.length} items; at most ${maxItems} are allowed`);
  return items;
}

/** Reads a URL, a path on this site, or the name of a local picture, which is checked later. */
function readAddress(value: unknown, bounds: Pick<ProductField, 'maxCharacters'>): string {
  const address = textOf(value, bounds);
  if (address === '' || /^\/(?![\\/\s])/.test(address) || isLocalPicture(address)) return address;
  const isUsable = /^data:image\//i.test(address) || (HTTP_URL.test(address) && URL.canParse(address, 'https://host'));
  if (!isUsable) throw new FieldError(`'${address.slice(0, 80)}' is not an http or https URL`);
  return address;
}

/** Returns whether a picture is a local file: neither a URL nor a path on this site. */
export function isLocalPicture(address: string): boolean {
  return address !== '' && !address.startsWith('/') && !/^[a-z][a-z0-9+.-]*:/i.test(address);
}

/** Reads a member of a team: an object, or only a name. */
function readMember(value: unknown): TeamMember {
  const member = isRecord(value) ? value : { name: value };
  const read = (key: keyof TeamMember) => textOf(cellOf(member, key) ?? null, TEAM_MEMBER_LIMITS);
  const name = read('name');
  if (!isVisible(name)) throw new FieldError('a member of the team has no name');
  return {
    name,
    avatar:
      readAddress(cellOf(member, 'avatar') ?? null, { maxCharacters: TEAM_MEMBER_LIMITS.maxAddressCharacters }) ||
      COMMENT_DEFAULTS.authorAvatar,
    role: read('role'),
  };
}

/** Reads a date as text, which is stored as written. A date that does not exist is an error. */
function readDateText(value: unknown, field: ProductField): string {
  const text = textOf(value, field);
  if (readDate(text) === 'impossible') throw new FieldError(`'${text}' is a date that does not exist`);
  return text;
}

function readInstant(value: unknown, field: ProductField): string | undefined {
  const text = textOf(value, field);
  if (text === '') return undefined;
  const instant = readDate(text);
  if (instant === 'impossible') throw new FieldError(`'${text}' is a date that does not exist`);
  if (instant === undefined) {
    throw new FieldError(
      `'${text.slice(0, 80)}' is not a supported date: use a format such as 2023-01-22 or 2023-01-22T10:00:00+01:00`,
    );
  }
  return instant;
}

/**
 * Replaces the names of local files that were not copied, because pages cannot show them. Existing products keep their
 * pictures (avatars are matched by the member's name). New products get the default image and avatars, and no
 * screenshots for these names.
 */
export function withStoredPictures(patch: ProductPatch, stored: StoredProduct | undefined): ProductPatch {
  if (!patch.hasLocalPictures) return patch;
  const { image, screenshots, team } = patch;
  return {
    ...patch,
    ...(image !== undefined && isLocalPicture(image) && { image: stored?.image }),
    ...(screenshots?.some(isLocalPicture) && {
      screenshots: stored?.screenshots ?? screenshots.filter((address) => !isLocalPicture(address)),
    }),
    ...(team && {
      team: team.map((member) => ({
        ...member,
        avatar: isLocalPicture(member.avatar)
          ? (stored?.team.find(({ name }) => name === member.name)?.avatar ?? COMMENT_DEFAULTS.authorAvatar)
          : member.avatar,
      })),
    }),
  };
}
