import { LIMITS } from '../limits.ts';

/**
 * The kind of a field. It determines the field's JSON type, its column type and how imports read it. `dateText` is text
 * that is shown as written, `address` the URL or path of a picture, and `time` an ISO 8601 time in UTC.
 */
export type ProductFieldKind = ProductField['kind'];

/** The properties that all field declarations share. Lengths are in Unicode code points. */
interface FieldDeclaration {
  /** The column in the table. Imports accept this name, too. */
  column: string;
  /** The label in `products show`, in the console and in errors of the submission form, which translates it. */
  label: string;
  /** The maximum length of the text, or of each string in a list. */
  maxCharacters: number;
  /** The example in the OpenAPI document. */
  example: unknown;
}

interface TextField extends FieldDeclaration {
  kind: 'text' | 'dateText' | 'address';
  /** The value that replaces a missing or blank text. Fields are never null. */
  default: string;
  maxItems?: undefined;
}

/** A field with a list. A missing list becomes an empty list. */
interface ListField extends FieldDeclaration {
  kind: 'texts' | 'addresses' | 'team';
  default?: undefined;
  maxItems: number;
}

/** A field that is never empty: every product has an id, and a missing time defaults to the current time. */
interface KeyField extends FieldDeclaration {
  kind: 'id' | 'time';
  default?: undefined;
  maxItems?: undefined;
}

/** The declaration of a product's field. */
export type ProductField = TextField | ListField | KeyField;

const ADDRESS_CHARACTERS = 2_048;
const SHORT_TEXT_CHARACTERS = 300;

/**
 * The fields of a product, except the counts, which visitors' actions determine. Schema, SQL, import, export, the
 * OpenAPI document and `products show` are derived from this list, including its order.
 */
export const PRODUCT_FIELDS = {
  id: { kind: 'id', column: 'id', label: 'Id', maxCharacters: 64, example: 'git' },
  name: {
    kind: 'text',
    column: 'name',
    label: 'Name',
    default: 'Untitled Product',
    maxCharacters: SHORT_TEXT_CHARACTERS,
    example: 'Git',
  },
  description: {
    kind: 'text',
    column: 'description',
    label: 'Description',
    default: 'No description available',
    maxCharacters: 10_000,
    example: 'A free and open source distributed version control system.',
  },
  image: {
    kind: 'address',
    column: 'image',
    label: 'Image',
    default: '/pictures/placeholder.svg',
    maxCharacters: ADDRESS_CHARACTERS,
    example: '/pictures/git/tile.svg',
  },
  tags: {
    kind: 'texts',
    column: 'tags',
    label: 'Tags',
    maxItems: 20,
    maxCharacters: LIMITS.tagCharacters,
    example: ['Version control', 'Command line'],
  },
  category: {
    kind: 'text',
    column: 'category',
    label: 'Category',
    default: 'Uncategorized',
    maxCharacters: SHORT_TEXT_CHARACTERS,
    example: 'Developer tools',
  },
  maker: {
    kind: 'text',
    column: 'maker',
    label: 'Maker',
    default: 'Unknown Maker',
    maxCharacters: SHORT_TEXT_CHARACTERS,
    example: 'Junio C Hamano',
  },
  launchDate: {
    kind: 'dateText',
    column: 'launch_date',
    label: 'Launched',
    default: 'Today',
    maxCharacters: SHORT_TEXT_CHARACTERS,
    example: 'April 7, 2005',
  },
  team: {
    kind: 'team',
    column: 'team',
    label: 'Team',
    maxItems: 50,
    maxCharacters: SHORT_TEXT_CHARACTERS,
    example: [{ name: 'Junio C Hamano', avatar: '/pictures/avatars/junio-c-hamano.svg', role: 'Maintainer' }],
  },
  screenshots: {
    kind: 'addresses',
    column: 'screenshots',
    label: 'Screenshot',
    maxItems: 50,
    maxCharacters: ADDRESS_CHARACTERS,
    example: ['/pictures/git/shot-1.webp'],
  },
  createdAt: {
    kind: 'time',
    column: 'created_at',
    label: 'Listed since',
    maxCharacters: SHORT_TEXT_CHARACTERS,
    example: '2026-11-19T09:00:00.000Z',
  },
} as const satisfies Record<string, ProductField>;

export type ProductFields = typeof PRODUCT_FIELDS;
export type ProductFieldName = keyof ProductFields;

/** Limits of the name, role and avatar of a team member. */
export const TEAM_MEMBER_LIMITS = { maxCharacters: SHORT_TEXT_CHARACTERS, maxAddressCharacters: ADDRESS_CHARACTERS };

/** Returns the declaration of a field, typed with the optional properties that the literal types lack. */
export function fieldOf(name: ProductFieldName): ProductField {
  return PRODUCT_FIELDS[name];
}

export const PRODUCT_FIELD_NAMES = Object.keys(PRODUCT_FIELDS) as readonly ProductFieldName[];

/** The fields that makers set with a submission. They upload `image` and `screenshots` separately. */
export const MAKER_FIELDS = ['name', 'description', 'tags', 'category', 'maker', 'team'] as const;

export type MakerField = (typeof MAKER_FIELDS)[number];
export type MakerText = { [Name in MakerField]: ProductFields[Name]['kind'] extends 'text' ? Name : never }[MakerField];

export const MAKER_TEXTS = MAKER_FIELDS.filter((name): name is MakerText => PRODUCT_FIELDS[name].kind === 'text');

/** The form of a product's id, for example a slug. Imports may set the id. */
export const PRODUCT_ID_PATTERN = '^[a-z0-9-]{1,64}$';

const PRODUCT_ID = new RegExp(PRODUCT_ID_PATTERN);

/** Returns whether a string has the form of a product id. */
export function isProductId(text: string): boolean {
  return PRODUCT_ID.test(text);
}
