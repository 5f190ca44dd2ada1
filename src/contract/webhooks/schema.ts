import { type Static, type TObject, Type } from 'typebox';
import { LeaderboardSummarySchema } from '../leaderboards/schema.ts';

const CountSchema = Type.Integer({ minimum: 0 });

/**
 * The envelope of every event, as Standard Webhooks recommends. `timestamp` is the time of the event (ISO 8601, UTC).
 */
const event = <Name extends string, Data extends TObject>(type: Name, data: Data) =>
  Type.Object({ type: Type.Literal(type), timestamp: Type.String(), data }, { additionalProperties: false });

const { period, kind, from, to, launches, winners } = LeaderboardSummarySchema.properties;

/** The bodies sent to WEBHOOK_URL. They contain neither visitors' identities nor text that is not public. */
export const WebhookEventSchema = Type.Union([
  event('submission.created', Type.Object({ submissionId: Type.String() })),
  event(
    'product.launched',
    Type.Object({
      productId: Type.String(),
      name: Type.String(),
      maker: Type.String(),
      category: Type.String(),
      tags: Type.Array(Type.String()),
    }),
  ),
  event('comment.held', Type.Object({ commentId: Type.String(), productId: Type.String() })),
  event(
    'votes.excluded',
    Type.Object({ productId: Type.String(), day: Type.String(), reason: Type.Literal('operator'), votes: CountSchema }),
  ),
  event(
    'leaderboard.final',
    Type.Object({
      period,
      kind,
      from,
      to,
      revision: CountSchema,
      digest: Type.Union([Type.String(), Type.Null()]),
      launches,
      winners,
    }),
  ),
  event('webhook.test', Type.Object({})),
]);

export type WebhookEvent = Static<typeof WebhookEventSchema>;
