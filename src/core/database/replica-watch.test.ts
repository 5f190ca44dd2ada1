import { describe, expect, test } from 'vitest';
import { isCurrentEnough, type ReplicaEvent, type ReplicaState, step } from './replica-watch.ts';

const goal = { position: '0/16B3748', requestedAt: 9_000 };
const unverified: ReplicaState = { kind: 'unverified' };
const usable: ReplicaState = { kind: 'usable', verifiedAt: 8_000, isPrimaryUnreachable: false };

describe('the state of a replica', () => {
  test.each<[string, ReplicaState, ReplicaEvent, ReplicaState]>([
    ['remembers a position', unverified, { type: 'position', goal }, { kind: 'unverified', goal }],
    ['stays usable while it replays', usable, { type: 'position', goal }, { ...usable, goal }],
    [
      'is verified up to the request of the position that it replayed',
      { kind: 'unverified', goal },
      { type: 'replayed', goal },
      { kind: 'usable', verifiedAt: 9_000, isPrimaryUnreachable: false },
    ],
    [
      'stays unverified while it is behind',
      { kind: 'unverified', goal },
      { type: 'behind', now: 9_050 },
      { kind: 'unverified', goal },
    ],
    ['stays usable while it is behind for less than 5 s', usable, { type: 'behind', now: 12_999 }, usable],
    ['lags after 5 s', usable, { type: 'behind', now: 13_000 }, { ...usable, kind: 'lagging' }],
    ['is usable again', { ...usable, kind: 'lagging' }, { type: 'replayed', goal }, { ...usable, verifiedAt: 9_000 }],
    [
      'notes that the primary is away',
      usable,
      { type: 'primaryUnreachable' },
      { ...usable, isPrimaryUnreachable: true },
    ],
    [
      'notes that it is back',
      { ...usable, isPrimaryUnreachable: true },
      { type: 'position', goal },
      { ...usable, goal },
    ],
    [
      'assumes a lag without positions',
      unverified,
      { type: 'noPosition', requestedAt: 9_000 },
      { ...usable, verifiedAt: 7_000 },
    ],
    ['forgets everything after a failure', { ...usable, goal }, { type: 'failed' }, unverified],
  ])('%s', (_name, state, event, expected) => {
    expect(step(state, event)).toEqual(expected);
  });
});

test.each<[string, ReplicaState, number, number, boolean]>([
  ['nothing before it is verified', unverified, Number.NEGATIVE_INFINITY, 8_000, false],
  ['what was committed before it was verified', usable, 7_999, 8_100, true],
  ['nothing of the moment of verification or later', usable, 8_000, 8_100, false],
  ['nothing once it lags', usable, Number.NEGATIVE_INFINITY, 13_000, false],
  ['what it has, while the primary is away', { ...usable, isPrimaryUnreachable: true }, 7_000, 60_000, true],
])('a replica shows %s', (_name, state, moment, now, expected) => {
  expect(isCurrentEnough(state, moment, now)).toBe(expected);
});
