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
    'another subscription closes the stream first',
    streaming(),
    { kind: 'changed', hasTabs: true },
    { ...streaming(), kind: 'reopening' },
    [{ kind: 'abort' }],
  ],
  ['and opens the next one without a delay', { ...streaming(1), kind: 'reopening' }, ended(0), streaming(1), [open()]],
  [
    'the last tab that leaves ends the stream',
    { ...streaming(), kind: 'reopening' },
    { ...ended(0), hasTabs: false } as LeadEvent,
    NO_STREAM,
    [],
  ],
  ['an interrupted stream is retried after a second', streaming(), ended(0), pausing(1), [pause(1_000)]],
  ['each failure doubles the delay', streaming(1), ended(200), pausing(2), [pause(2_000)]],
  ['the server may ask for a longer delay', streaming(), ended(200, 5_000), pausing(1), [pause(5_000)]],
  ['after three failures, the tabs poll', streaming(2), ended(0), pausing(3, true), [{ kind: 'lost' }, pause(4_000)]],
  [
    'after a refusal they poll at once, and the delay is added to what the server asked for',
    streaming(),
    ended(503, 7_000),
    pausing(1, true),
    [{ kind: 'lost' }, pause(8_000)],
  ],
  ['the loss is reported once', streaming(3, true), ended(0), pausing(4, true), [pause(8_000)]],
  ['the delay has an upper bound', streaming(20, true), ended(0), pausing(21, true), [pause(120_000)]],
  ['a change does not shorten the delay', pausing(1), { kind: 'changed', hasTabs: true }, pausing(1), []],
  [
    'after the delay the stream is reopened',
    pausing(3, true),
    { kind: 'resumed', hasTabs: true },
    streaming(3, true),
    [open()],
  ],
  ['unless every tab has left', pausing(1), { kind: 'resumed', hasTabs: false }, { ...NO_STREAM, failures: 1 }, []],
  ['an open stream is no longer lost', streaming(3, true), { kind: 'opened' }, streaming(3), []],
  ['its first update resets the delay', streaming(3), { kind: 'received' }, streaming(), []],
  ['204 stops it for good', streaming(), ended(204), { ...NO_STREAM, kind: 'stopped' }, []],
  [
    'a leader that leaves closes it',
    streaming(),
    { kind: 'closed' },
    { ...NO_STREAM, kind: 'stopped' },
    [{ kind: 'abort' }],
  ],
  ['and does not reopen it', { ...NO_STREAM, kind: 'stopped' }, ended(0), { ...NO_STREAM, kind: 'stopped' }, []],
])('%s', (_name, from, event, state, effects) => {
  expect(step(from, event)).toEqual({ state, effects });
});

function open(): LeadEffect {
  return { kind: 'open' };
}

function pause(ms: number): LeadEffect {
  return { kind: 'pause', ms };
}
