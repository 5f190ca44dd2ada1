import { type Static, Type } from 'typebox';

const TextOrNull = Type.Union([Type.String(), Type.Null()]);

/** One moderation entry. It names no operator and quotes no removed or hidden text. */
const ModerationEntrySchema = Type.Object(
  {
    id: Type.String(),
    at: Type.String(),
    action: Type.Union([
      Type.Literal('product.removed'),
      Type.Literal('product.postponed'),
      Type.Literal('comment.hidden'),
      Type.Literal('votes.excluded'),
      Type.Literal('votes.included'),
      Type.Literal('submission.declined'),
    ]),
    productId: { ...TextOrNull, description: 'The affected product; null for a submission, which was never public.' },
    productName: { ...TextOrNull, description: "The product's name; null if the product is not on the site." },
    votes: Type.Union([Type.Integer({ minimum: 0 }), Type.Null()], {
      description: 'The number of excluded or included votes; null for other actions.',
    }),
    reason: { ...TextOrNull, description: "The operator's reason; null if none was given." },
    undoneAt: { ...TextOrNull, description: 'When the action was undone; null if it was not.' },
  },
  { $id: 'ModerationEntry' },
);

export const ModerationLogSchema = Type.Object(
  { items: Type.Array(ModerationEntrySchema), nextCursor: TextOrNull },
  { $id: 'ModerationLog' },
);

export type ModerationEntry = Static<typeof ModerationEntrySchema>;
export type ModerationLog = Static<typeof ModerationLogSchema>;
