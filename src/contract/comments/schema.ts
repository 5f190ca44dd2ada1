import { type Static, Type } from 'typebox';
import { PAGE_QUERY } from '../page-query.ts';
import { TEXT_FORMAT } from '../text.ts';

export const CommentSchema = Type.Object(
  {
    id: Type.String(),
    productId: Type.String(),
    authorName: Type.String(),
    authorAvatar: Type.String(),
    authorBadge: Type.Union([Type.String(), Type.Null()]),
    content: Type.String(),
    likes: Type.Integer({ minimum: 0 }),
    createdAt: Type.String(),
  },
  { $id: 'Comment' },
);

const CommentSortSchema = Type.Union([Type.Literal('best'), Type.Literal('newest'), Type.Literal('oldest')]);

export const CommentListQuerySchema = Type.Object({
  sort: Type.Optional(CommentSortSchema),
  ...PAGE_QUERY,
});

/** One page of comments. `total` is the number of all public comments on the product. */
export const CommentPageSchema = Type.Object(
  {
    items: Type.Array(CommentSchema),
    total: Type.Integer({ minimum: 0 }),
    nextCursor: Type.Union([Type.String(), Type.Null()]),
  },
  { $id: 'CommentPage' },
);

/** A visitor's input. `core` trims and checks the content, because the specification prescribes the error messages. */
export const NewCommentSchema = Type.Object(
  {
    productId: Type.String({ format: TEXT_FORMAT }),
    content: Type.String({ format: TEXT_FORMAT }),
    /** A honeypot: people do not see this field, so any value indicates a bot. */
    website: Type.Optional(Type.String()),
  },
  { $id: 'NewComment' },
);

/** The requesting visitor's own held comments, newest first. */
export const HeldCommentsSchema = Type.Object({ items: Type.Array(CommentSchema) }, { $id: 'HeldComments' });

export const AddedCommentSchema = Type.Object({ comment: CommentSchema }, { $id: 'AddedComment' });

export const LikesSchema = Type.Object({ likes: Type.Integer({ minimum: 0 }) }, { $id: 'Likes' });

export type Comment = Static<typeof CommentSchema>;
export type CommentSort = Static<typeof CommentSortSchema>;
export type CommentListQuery = Static<typeof CommentListQuerySchema>;
export type CommentPage = Static<typeof CommentPageSchema>;
export type NewComment = Static<typeof NewCommentSchema>;
export type HeldComments = Static<typeof HeldCommentsSchema>;
export type AddedComment = Static<typeof AddedCommentSchema>;
export type Likes = Static<typeof LikesSchema>;
