import { type Static, Type } from 'typebox';

/** Comma-separated product ids. */
export const UpvotedQuerySchema = Type.Object({ products: Type.String() });

/** The requested products that this session has upvoted. */
export const UpvotedSchema = Type.Object({ upvoted: Type.Array(Type.String()) }, { $id: 'Upvoted' });

/** The state after a change: whether this session has upvoted the product, and the product's upvote count. */
export const UpvoteStateSchema = Type.Object(
  {
    upvoted: Type.Boolean(),
    upvotes: Type.Integer({ minimum: 0 }),
  },
  { $id: 'UpvoteState' },
);

export type Upvoted = Static<typeof UpvotedSchema>;
export type UpvoteState = Static<typeof UpvoteStateSchema>;
