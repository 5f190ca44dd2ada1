import { outboxItems } from '../../lib/outbox.ts';

/** A product's upvotes with this visitor's wish in them that waits for the network. */
export function upvotesShown(productId: string, upvotes: number): number {
  const wish = outboxItems().find((item) => item.kind === 'upvote' && item.productId === productId);
  if (wish?.kind !== 'upvote') return upvotes;
  return Math.max(0, upvotes + Number(wish.upvoted) - Number(wish.before));
}
