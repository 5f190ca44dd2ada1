import { expect, test } from 'vitest';
import { type DeliveryEffect, type DeliveryEvent, type DeliveryState, step } from './delivery-schedule.ts';

const error = new Error('The database is unreachable');

const TRANSITIONS: {
  name: string;
  from: DeliveryState;
  event: DeliveryEvent;
  to: DeliveryState;
  effects: DeliveryEffect[];
}[] = [
  {
    name: 'a change is delivered at once after a quiet period',
    from: { kind: 'idle', notBefore: 1_000, isFailing: false },
    event: { kind: 'changed', at: 5_000 },
    to: { kind: 'scheduled', notBefore: 1_000, isFailing: false },
    effects: [{ kind: 'wait', ms: 0 }],
  },
  {
    name: 'a change soon after a delivery waits for the interval',
    from: { kind: 'idle', notBefore: 1_000, isFailing: false },
    event: { kind: 'changed', at: 900 },
    to: { kind: 'scheduled', notBefore: 1_000, isFailing: false },
    effects: [{ kind: 'wait', ms: 100 }],
  },
  {
    name: 'further changes join the scheduled delivery',
    from: { kind: 'scheduled', notBefore: 1_000, isFailing: false },
    event: { kind: 'changed', at: 950 },
    to: { kind: 'scheduled', notBefore: 1_000, isFailing: false },
    effects: [],
  },
  {
    name: 'changes during a delivery start no second delivery',
    from: { kind: 'delivering', isFailing: false },
    event: { kind: 'changed', at: 950 },
    to: { kind: 'delivering', isFailing: false },
    effects: [],
  },
  {
    name: 'a due delivery begins',
    from: { kind: 'scheduled', notBefore: 1_000, isFailing: false },
    event: { kind: 'due' },
    to: { kind: 'delivering', isFailing: false },
    effects: [{ kind: 'deliver' }],
  },
  {
    name: 'the interval is measured from the read of the database, not from the end of the delivery',
    from: { kind: 'delivering', isFailing: true },
    event: { kind: 'delivered', readAt: 2_000, at: 2_100, hasMore: true },
    to: { kind: 'scheduled', notBefore: 2_250, isFailing: false },
    effects: [{ kind: 'wait', ms: 150 }],
  },
  {
    name: 'nothing is scheduled when everything has been delivered',
    from: { kind: 'delivering', isFailing: false },
    event: { kind: 'delivered', readAt: 2_000, at: 2_100, hasMore: false },
    to: { kind: 'idle', notBefore: 2_250, isFailing: false },
    effects: [],
  },
  {
    name: 'the first failure is logged and retried later',
    from: { kind: 'delivering', isFailing: false },
    event: { kind: 'failed', at: 3_000, error, hasMore: true },
    to: { kind: 'scheduled', notBefore: 4_000, isFailing: true },
    effects: [
      { kind: 'warn', error },
      { kind: 'wait', ms: 1_000 },
    ],
  },
  {
    name: 'further failures are not logged',
    from: { kind: 'delivering', isFailing: true },
    event: { kind: 'failed', at: 3_000, error, hasMore: true },
    to: { kind: 'scheduled', notBefore: 4_000, isFailing: true },
    effects: [{ kind: 'wait', ms: 1_000 }],
  },
  {
    name: 'a failure is not retried if every stream has closed in the meantime',
    from: { kind: 'delivering', isFailing: true },
    event: { kind: 'failed', at: 3_000, error, hasMore: false },
    to: { kind: 'idle', notBefore: 4_000, isFailing: true },
    effects: [],
  },
  {
    name: 'the timer is cancelled when every stream has closed',
    from: { kind: 'scheduled', notBefore: 1_000, isFailing: false },
    event: { kind: 'abandoned' },
    to: { kind: 'idle', notBefore: 1_000, isFailing: false },
    effects: [{ kind: 'cancelWait' }],
  },
  {
    name: 'a delivery in progress continues when every stream has closed',
    from: { kind: 'delivering', isFailing: false },
    event: { kind: 'abandoned' },
    to: { kind: 'delivering', isFailing: false },
    effects: [],
  },
];

test.each(TRANSITIONS)('$name', ({ from, event, to, effects }) => {
  expect(step(from, event, { intervalMs: 250, retryMs: 1_000 })).toEqual({ state: to, effects });
});
