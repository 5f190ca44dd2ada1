import { type Static, Type } from 'typebox';
import { LIMITS } from '../limits.ts';
import { PAGE_QUERY } from '../page-query.ts';
import { TEXT_FORMAT } from '../text.ts';
import { fieldOf, PRODUCT_FIELD_NAMES, PRODUCT_ID_PATTERN, type ProductFields } from './fields.ts';

const TeamMemberSchema = Type.Object(
  {
    name: Type.String(),
    avatar: Type.String(),
    role: Type.String(),
  },
  { $id: 'TeamMember' },
);

const KIND_SCHEMAS = {
  id: Type.String({ pattern: PRODUCT_ID_PATTERN }),
  text: Type.String(),
  dateText: Type.String(),
  address: Type.String(),
  time: Type.String(),
  texts: Type.Array(Type.String()),
  addresses: Type.Array(Type.String()),
  team: Type.Array(TeamMemberSchema),
};

type FieldSchemas = { [Name in keyof ProductFields]: (typeof KIND_SCHEMAS)[ProductFields[Name]['kind']] };

const fieldSchemas = Object.fromEntries(
  PRODUCT_FIELD_NAMES.map((name) => [name, KIND_SCHEMAS[fieldOf(name).kind]]),
) as FieldSchemas;

/** A product as visitors see it: its fields, and the numbers of its upvotes and public comments. */
export const ProductSchema = Type.Object(
  {
    ...fieldSchemas,
    upvotes: Type.Integer({ minimum: 0 }),
    comments: Type.Integer({ minimum: 0 }),
  },
  { $id: 'Product' },
);

export const ProductSortSchema = Type.Union([Type.Literal('newest'), Type.Literal('top'), Type.Literal('discussed')]);

/** `q` and `tag` filter the list; empty values have no effect. */
export const ProductListQuerySchema = Type.Object({
  q: Type.Optional(Type.String({ maxLength: LIMITS.searchCharacters, format: TEXT_FORMAT })),
  tag: Type.Optional(Type.String({ maxLength: LIMITS.tagCharacters, format: TEXT_FORMAT })),
  sort: Type.Optional(ProductSortSchema),
  ...PAGE_QUERY,
});

export const ProductPageSchema = Type.Object(
  {
    items: Type.Array(ProductSchema),
    nextCursor: Type.Union([Type.String(), Type.Null()]),
  },
  { $id: 'ProductPage' },
);

/** A product and the ids of its neighbours in the default order of the list. */
export const ProductDetailSchema = Type.Object(
  {
    product: ProductSchema,
    previousId: Type.Union([Type.String(), Type.Null()]),
    nextId: Type.Union([Type.String(), Type.Null()]),
  },
  { $id: 'ProductDetail' },
);

/**
 * The fields of a related product that a product page shows. `sharedTags` contains the tags that both products have,
 * rarest first.
 */
const RelatedProductSchema = Type.Object(
  {
    id: fieldSchemas.id,
    name: fieldSchemas.name,
    image: fieldSchemas.image,
    sharedTags: Type.Array(Type.String()),
  },
  { $id: 'RelatedProduct' },
);

export const RelatedProductsSchema = Type.Object(
  { items: Type.Array(RelatedProductSchema) },
  { $id: 'RelatedProducts' },
);

export type TeamMember = Static<typeof TeamMemberSchema>;
export type Product = Static<typeof ProductSchema>;
/** The declared fields of a product, without the counts, which visitors' actions determine. */
export type StoredProduct = Omit<Product, 'upvotes' | 'comments'>;
export type ProductSort = Static<typeof ProductSortSchema>;
export type ProductListQuery = Static<typeof ProductListQuerySchema>;
export type ProductPage = Static<typeof ProductPageSchema>;
export type ProductDetail = Static<typeof ProductDetailSchema>;
export type RelatedProduct = Static<typeof RelatedProductSchema>;
export type RelatedProducts = Static<typeof RelatedProductsSchema>;
