import { type Static, Type } from 'typebox';

export const EventsQuerySchema = Type.Object({
  products: Type.Optional(Type.String()),
  since: Type.Optional(Type.String()),
});

/** A product's current counts. */
export const LiveCountsSchema = Type.Object(
  {
    id: Type.String(),
    upvotes: Type.Integer({ minimum: 0 }),
    comments: Type.Integer({ minimum: 0 }),
  },
  { $id: 'LiveCounts' },
);

/**
 * A public comment that was added, restored or liked, with its current number of likes. If a client that has loaded the
 * whole list does not know the comment, it is new.
 */
export const LiveCommentSchema = Type.Object(
  {
    productId: Type.String(),
    commentId: Type.String(),
    likes: Type.Integer({ minimum: 0 }),
  },
  { $id: 'LiveComment' },
);

export type LiveCounts = Static<typeof LiveCountsSchema>;
export type LiveComment = Static<typeof LiveCommentSchema>;
