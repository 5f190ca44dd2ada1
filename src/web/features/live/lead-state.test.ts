import { expect, test } from 'vitest';
import { type LeadEffect, type LeadEvent, type LeadState, NO_STREAM, step } from './lead-state.ts';

const pausing = (failures: number, isLost = false): LeadState => ({ kind: 'pausing', failures, isLost });
const streaming = (failures = 0, isLost = false): LeadState => ({ kind: 'streaming', failures, isLost });
const ended = (status: number, waitMs?: number): LeadEvent => ({
  kind: 'ended',
  end: { status, waitMs },
  jitter: 1,
  hasTabs: true,
});

test.each<[string, LeadState, LeadEvent, LeadState, LeadEffect[]]>([
  ['the first subscription opens a stream', NO_STREAM, { kind: 'changed', hasTabs: true }, streaming(), [open()]],
  ['without subscriptions, no stream is opened', NO_STREAM, { kind: 'changed', hasTabs: false }, NO_STREAM, []],
  [
    'another subscription closes the open stream',
    streaming(),
    { kind: 'changed', hasTabs: true },
    { ...streaming(), kind: 'reopening' },
    [{ kind: 'abort' }],
  ],
  [
    'a stream that was closed for another subscription is reopened without a delay',
    { ...streaming(1), kind: 'reopening' },
    ended(0),
    streaming(1),
    [open()],
  ],
  [
    'a stream is not reopened after the last tab has left',
    { ...streaming(), kind: 'reopening' },
    { ...ended(0), hasTabs: false } as LeadEvent,
    NO_STREAM,
    [],
  ],
  ['an interrupted stream is retried after a second', streaming(), ended(0), pausing(1), [pause(1_000)]],
  ['each failure doubles the delay', streaming(1), ended(200), pausing(2), [pause(2_000)]],
  ['a longer delay that the server requests is used', streaming(), ended(200, 5_000), pausing(1), [pause(5_000)]],
  [
    'after three failures, the tabs are told that there is no stream',
    streaming(2),
    ended(0),
    pausing(3, true),
    [{ kind: 'lost' }, pause(4_000)],
  ],
  [
    'after a refusal, tabs learn at once that there is no stream, and the server’s delay is added to the retry delay',
    streaming(),
    ended(503, 7_000),
    pausing(1, true),
    [{ kind: 'lost' }, pause(8_000)],
  ],
  [
    'the loss of the stream is reported to the tabs only once',
    streaming(3, true),
    ended(0),
    pausing(4, true),
    [pause(8_000)],
  ],
  ['the delay grows to at most two minutes', streaming(20, true), ended(0), pausing(21, true), [pause(120_000)]],
  ['a changed subscription does not shorten the delay', pausing(1), { kind: 'changed', hasTabs: true }, pausing(1), []],
  [
    'the stream is reopened after the delay',
    pausing(3, true),
    { kind: 'resumed', hasTabs: true },
    streaming(3, true),
    [open()],
  ],
  [
    'the stream is not reopened after the delay if every tab has left',
    pausing(1),
    { kind: 'resumed', hasTabs: false },
    { ...NO_STREAM, failures: 1 },
    [],
  ],
  ['a stream that opens is no longer lost', streaming(3, true), { kind: 'opened' }, streaming(3), []],
  ['the first update of a stream resets the delay', streaming(3), { kind: 'received' }, streaming(), []],
  ['status 204 stops the stream for good', streaming(), ended(204), { ...NO_STREAM, kind: 'stopped' }, []],
  [
    'a leader that leaves closes the stream',
    streaming(),
    { kind: 'closed' },
    { ...NO_STREAM, kind: 'stopped' },
    [{ kind: 'abort' }],
  ],
  [
    'a stopped stream is not reopened',
    { ...NO_STREAM, kind: 'stopped' },
    ended(0),
    { ...NO_STREAM, kind: 'stopped' },
    [],
  ],
])('%s', (_name, from, event, state, effects) => {
  expect(step(from, event)).toEqual({ state, effects });
});

function open(): LeadEffect {
  return { kind: 'open' };
}

function pause(ms: number): LeadEffect {
  return { kind: 'pause', ms };
}
