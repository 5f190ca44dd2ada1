import { type Static, Type } from 'typebox';
import { LIMITS } from '../limits.ts';
import { TEXT_FORMAT } from '../text.ts';
import { PRODUCT_ID_PATTERN } from './product-id.ts';

const ProductIdSchema = Type.String({ pattern: PRODUCT_ID_PATTERN });

export const TeamMemberSchema = Type.Object(
  {
    name: Type.String(),
    avatar: Type.String(),
    role: Type.String(),
  },
  { $id: 'TeamMember' },
);

/** A product as everyone sees it; `upvotes` and `comments` are counts, `createdAt` is ISO 8601 in UTC. */
export const ProductSchema = Type.Object(
  {
    id: ProductIdSchema,
    name: Type.String(),
    description: Type.String(),
    image: Type.String(),
    tags: Type.Array(Type.String()),
    category: Type.String(),
    maker: Type.String(),
    launchDate: Type.String(),
    team: Type.Array(TeamMemberSchema),
    screenshots: Type.Array(Type.String()),
    createdAt: Type.String(),
    upvotes: Type.Integer({ minimum: 0 }),
    comments: Type.Integer({ minimum: 0 }),
  },
  { $id: 'Product' },
);

export const ProductSortSchema = Type.Union([Type.Literal('newest'), Type.Literal('top'), Type.Literal('discussed')]);

/** `q` and `tag` narrow the list; an empty one narrows nothing. */
export const ProductListQuerySchema = Type.Object({
  q: Type.Optional(Type.String({ maxLength: LIMITS.searchCharacters, format: TEXT_FORMAT })),
  tag: Type.Optional(Type.String({ maxLength: LIMITS.tagCharacters, format: TEXT_FORMAT })),
  sort: Type.Optional(ProductSortSchema),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: LIMITS.pageSize.max })),
  cursor: Type.Optional(Type.String({ maxLength: LIMITS.cursorCharacters })),
});

export const ProductPageSchema = Type.Object(
  {
    items: Type.Array(ProductSchema),
    nextCursor: Type.Union([Type.String(), Type.Null()]),
  },
  { $id: 'ProductPage' },
);

/** One product and its neighbours in the default order of the list. */
export const ProductDetailSchema = Type.Object(
  {
    product: ProductSchema,
    previousId: Type.Union([Type.String(), Type.Null()]),
    nextId: Type.Union([Type.String(), Type.Null()]),
  },
  { $id: 'ProductDetail' },
);

export type TeamMember = Static<typeof TeamMemberSchema>;
export type Product = Static<typeof ProductSchema>;
export type ProductSort = Static<typeof ProductSortSchema>;
export type ProductListQuery = Static<typeof ProductListQuerySchema>;
export type ProductPage = Static<typeof ProductPageSchema>;
export type ProductDetail = Static<typeof ProductDetailSchema>;
