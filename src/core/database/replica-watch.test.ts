import { describe, expect, test } from 'vitest';
import { createLogLines } from '../../../tests/support/log-lines.ts';
import type { Database } from './database.ts';
import { isCurrentEnough, nextReplicaState, type ReplicaEvent, type ReplicaState } from './replica-watch.ts';
import { openReplicas } from './replicas.ts';

const goal = { position: '0/16B3748', requestedAt: 9_000 };
const unverified: ReplicaState = { kind: 'unverified' };
const usable: ReplicaState = { kind: 'usable', verifiedAt: 8_000, isPrimaryUnreachable: false };

describe('the state of a replica', () => {
  test.each<[string, ReplicaState, ReplicaEvent, ReplicaState]>([
    ['remembers the position that was requested', unverified, { type: 'position', goal }, { kind: 'unverified', goal }],
    ['stays usable while it replays the log', usable, { type: 'position', goal }, { ...usable, goal }],
    [
      'is verified up to the request of the position that it replayed',
      { kind: 'unverified', goal },
      { type: 'replayed', goal },
      { ...usable, verifiedAt: 9_000, replayed: goal },
    ],
    [
      'stays unverified while it is behind',
      { kind: 'unverified', goal },
      { type: 'behind', now: 9_050 },
      { kind: 'unverified', goal },
    ],
    ['stays usable while it is behind for less than 5 s', usable, { type: 'behind', now: 12_999 }, usable],
    [
      'is lagging after it has been behind for 5 s',
      usable,
      { type: 'behind', now: 13_000 },
      { ...usable, kind: 'lagging' },
    ],
    [
      'is usable again after it has caught up',
      { ...usable, kind: 'lagging' },
      { type: 'replayed', goal },
      { ...usable, verifiedAt: 9_000, replayed: goal },
    ],
    [
      'keeps its goal, because a replica that always lags could not reach a newer one',
      { ...usable, kind: 'lagging', goal },
      { type: 'position', goal: { position: '0/16B3800', requestedAt: 10_000 } },
      { ...usable, kind: 'lagging', goal },
    ],
    [
      'replaces a goal that the primary has lost in a crash',
      { ...usable, kind: 'lagging', goal: { position: '0/16B3800', requestedAt: 8_000 } },
      { type: 'position', goal },
      { ...usable, kind: 'lagging', goal },
    ],
    [
      'compares the parts of positions as numbers',
      { ...usable, goal: { position: '9/1', requestedAt: 8_000 } },
      { type: 'position', goal: { position: '10/0', requestedAt: 9_000 } },
      { ...usable, goal: { position: '9/1', requestedAt: 8_000 } },
    ],
    [
      'still counts as without a primary after it has replayed everything that it had received',
      { ...usable, isPrimaryUnreachable: true, goal },
      { type: 'replayed', goal },
      { ...usable, verifiedAt: 9_000, isPrimaryUnreachable: true, replayed: goal },
    ],
    [
      'records that the primary is unreachable',
      usable,
      { type: 'primaryUnreachable' },
      { ...usable, isPrimaryUnreachable: true },
    ],
    [
      'records that the primary is reachable again',
      { ...usable, isPrimaryUnreachable: true },
      { type: 'position', goal },
      { ...usable, goal },
    ],
    [
      'assumes a fixed lag if the engine has no positions',
      unverified,
      { type: 'noPosition', requestedAt: 9_000 },
      { ...usable, verifiedAt: 7_000 },
    ],
    [
      'is unverified after a failure',
      { ...usable, goal, replayed: goal },
      { type: 'failed' },
      { kind: 'unverified', replayed: goal },
    ],
    [
      'is verified up to its replayed position if the primary is unreachable after a failure',
      { kind: 'unverified', replayed: goal },
      { type: 'primaryUnreachable' },
      { ...usable, verifiedAt: 9_000, isPrimaryUnreachable: true, replayed: goal },
    ],
    ['stays unverified if it has never been verified', unverified, { type: 'primaryUnreachable' }, unverified],
    [
      'stays usable while the primary is unreachable, however old its data is',
      { ...usable, isPrimaryUnreachable: true },
      { type: 'behind', now: 60_000 },
      { ...usable, isPrimaryUnreachable: true },
    ],
  ])('a replica %s', (_name, state, event, expected) => {
    expect(nextReplicaState(state, event)).toEqual(expected);
  });
});

test.each<[string, ReplicaState, number, number, boolean]>([
  ['an unverified replica serves no reads', unverified, Number.NEGATIVE_INFINITY, 8_000, false],
  ['a replica serves reads of what was committed before its verification', usable, 7_999, 8_100, true],
  ['a replica serves no reads of what was committed at its verification or later', usable, 8_000, 8_100, false],
  ['a lagging replica serves no reads', usable, Number.NEGATIVE_INFINITY, 13_000, false],
  [
    'while the primary is unreachable, a replica serves reads of what it has replayed',
    { ...usable, isPrimaryUnreachable: true },
    7_000,
    60_000,
    true,
  ],
])('%s', (_name, state, moment, now, expected) => {
  expect(isCurrentEnough(state, moment, now)).toBe(expected);
});

test('an unreachable replica is logged with its name and the reason, and not as an outage of the database', async () => {
  const { log, lines } = createLogLines();
  const primary = { query: async () => [{ position: '0/16B3748', system: '1' }] } as unknown as Database;
  const reads = openReplicas(primary, ['postgres://site@127.0.0.1:1/launches'], { log, maxConnections: 1 });
  await expect.poll(() => lines().map(({ msg }) => msg)).toContain('Skipping a replica until it is usable');
  await reads.close();
  expect(lines()).toMatchObject([
    { replica: '127.0.0.1:1/launches', reason: 'connect ECONNREFUSED 127.0.0.1:1', level: 40 },
  ]);
});
