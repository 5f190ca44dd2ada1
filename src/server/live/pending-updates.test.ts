import { expect, test } from 'vitest';
import type { EventStream } from './event-stream.ts';
import { PendingUpdates } from './pending-updates.ts';
import { Subscriptions } from './subscriptions.ts';

const CHANGES = {
  since: () => ({ productIds: ['a'], catalogue: false }),
  commentsSince: () => ({ commentIds: [], completeSince: 0 }),
};

test('an undelivered batch is taken back without the streams that closed during the attempt', () => {
  const subscriptions = new Subscriptions();
  const batch = new PendingUpdates();
  const open = (...productIds: string[]) => {
    const stream = {} as EventStream;
    const subscription = subscriptions.add(stream, productIds, true);
    batch.resume(stream, subscription, 20_000);
    return { stream, subscription };
  };
  const [present, closed, alone] = [open('a'), open('a'), open('b')];
  const pending = new PendingUpdates();
  for (const { stream, subscription } of [closed, alone]) {
    subscriptions.remove(stream, subscription);
    pending.remove(stream, subscription);
  }
  pending.restore(batch);
  const { deliveries } = pending.plan(subscriptions, CHANGES);
  expect(deliveries.map(({ streams }) => [...streams])).toEqual([[present.stream]]);
  subscriptions.remove(present.stream, present.subscription);
  pending.remove(present.stream, present.subscription);
  expect(pending.isEmpty()).toBe(true);
});
