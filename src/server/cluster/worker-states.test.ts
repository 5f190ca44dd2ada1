import { expect, test } from 'vitest';
import { type FleetEffect, type FleetEvent, launchFleet, step } from './worker-states.ts';

const SIZE = 2;
const HEALTHY_MS = 1_000;

/** Feeds events to a fleet of two, one by one, and collects the resulting effects. */
function run(...events: readonly [number, FleetEvent][]): FleetEffect[][] {
  const first = launchFleet(SIZE, 0);
  const done = [[...first.effects]];
  let { state } = first;
  for (const [now, event] of events) {
    const next = step(state, event, SIZE, now);
    state = next.state;
    done.push([...next.effects]);
  }
  return done;
}

const booted = (id: number): FleetEvent => ({ kind: 'booted', id });
const up = (id: number): FleetEvent => ({ kind: 'up', id });
const exited = (id: number): FleetEvent => ({ kind: 'exited', id, reason: `Worker ${id} failed` });
const fork = (id: number): FleetEffect => ({ kind: 'fork', id });
const start = (id: number): FleetEffect => ({ kind: 'start', id });
const later = (delayMs: number): FleetEffect => ({ kind: 'retry later', delayMs });
const launch: [number, FleetEvent][] = [booted(1), booted(2), up(1), up(2), booted(3)].map((event) => [0, event]);
const afterLaunch = (...events: readonly [number, FleetEvent][]) => run(...launch, ...events).slice(1 + launch.length);

test('all workers start together, and a spare is forked when all are up', () => {
  expect(run(...launch)).toEqual([[fork(1), fork(2)], [start(1)], [start(2)], [], [{ kind: 'launched' }, fork(3)], []]);
});

test('a worker that cannot start during the launch ends the launch', () => {
  expect(run([0, booted(1)], [0, exited(1)]).at(-1)).toEqual([{ kind: 'give up', reason: 'Worker 1 failed' }]);
});

test('if a healthy worker is killed, the spare replaces it at once, and another spare is forked', () => {
  expect(afterLaunch([HEALTHY_MS, exited(1)], [HEALTHY_MS, up(3)])).toEqual([[start(3)], [fork(4)]]);
});

test('if both workers are killed at the same time, repeatedly, both are replaced without a pause', () => {
  let id = 3;
  const rounds = Array.from({ length: 30 }, (_, round): [number, FleetEvent][] => {
    const [left, right] = round === 0 ? [1, 2] : [id - 1, id];
    const spare = round === 0 ? 3 : id + 1;
    const forked = spare + 1;
    id = forked;
    const now = (round + 1) * HEALTHY_MS;
    const events = [exited(left), exited(right), up(spare), booted(forked), up(forked), booted(forked + 1)];
    return events.map((event) => [now, event]);
  });
  const effects = afterLaunch(...rounds.flat()).flat();
  expect(effects.filter(({ kind }) => kind === 'retry later' || kind === 'give up')).toEqual([]);
  expect(effects.filter(({ kind }) => kind === 'start')).toHaveLength(60);
});

test.each<[string, [number, FleetEvent][]]>([
  [
    'before it is up',
    [
      [0, exited(3)],
      [0, booted(4)],
      [0, exited(4)],
    ],
  ],
  [
    'right after it came up',
    [
      [0, up(3)],
      [0, exited(3)],
      [0, booted(4)],
      [0, up(4)],
      [0, exited(4)],
    ],
  ],
])('a worker that exits %s is replaced after a pause, which doubles each time', (_, events) => {
  const retries: [number, FleetEvent][] = events.map(([, event]) => [HEALTHY_MS, event]);
  const [firstEnd, ...more] = retries.flatMap((entry): [number, FleetEvent][] =>
    entry[1].kind === 'exited' ? [entry, [HEALTHY_MS, { kind: 'retry' }]] : [entry],
  );
  const effects = afterLaunch([HEALTHY_MS, exited(1)], ...(firstEnd ? [firstEnd] : []), ...more).flat();
  expect(effects.filter(({ kind }) => kind === 'retry later')).toEqual([later(100), later(200)]);
});

test('while one worker cannot start, a healthy worker that is killed is still replaced without a pause', () => {
  const effects = afterLaunch([HEALTHY_MS, exited(1)], [HEALTHY_MS, exited(3)], [HEALTHY_MS, exited(2)]);
  expect(effects).toEqual([[start(3)], [later(100)], [fork(4)]]);
});

test('after more than twenty failures, the fleet is lost for the reason of the last failure if no worker is up, but not while a worker serves', () => {
  const fail = (first: number): [number, FleetEvent][] =>
    Array.from({ length: 21 }, (_, round) => first + round).flatMap((id): [number, FleetEvent][] => [
      [HEALTHY_MS, { kind: 'retry' }],
      [HEALTHY_MS, exited(id)],
    ]);
  const oneServes = afterLaunch([HEALTHY_MS, exited(1)], ...fail(3)).flat();
  expect(oneServes).not.toContainEqual(expect.objectContaining({ kind: 'give up' }));
  expect(oneServes.at(-1)).toEqual(later(10_000));
  const noneServes = afterLaunch([HEALTHY_MS, exited(1)], [HEALTHY_MS, exited(2)], ...fail(3)).flat();
  expect(noneServes.at(-1)).toEqual({ kind: 'give up', reason: 'Worker 23 failed' });
});

test('no worker is started after a stop', () => {
  expect(afterLaunch([HEALTHY_MS, { kind: 'stop' }], [HEALTHY_MS, exited(1)], [HEALTHY_MS, exited(2)])).toEqual([
    [],
    [],
    [],
  ]);
});
