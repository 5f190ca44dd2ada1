import fc from 'fast-check';
import { expect, test } from 'vitest';
import { codeOf, openSubmissionHarness } from '../../../tests/support/submission-harness.ts';
import type { SubmissionStatus } from '../../contract/submissions/schema.ts';

const harness = openSubmissionHarness();
const { site, clock, inHours } = harness;

const STEPS = [
  'edit',
  'reschedule',
  'launch at once',
  'withdraw',
  'approve',
  'decline',
  'schedule',
  'undo',
  'vote',
  'wait',
] as const;
type Step = (typeof STEPS)[number];

interface State {
  status: 'waiting' | 'approved' | 'declined' | 'withdrawn';
  /** The launch time in milliseconds, or `null` if approval launches the product immediately. */
  launchAt: number | null;
  undo: Omit<State, 'undo' | 'voted'> | null;
  voted: boolean;
}

/** Applies a step to a simple model of the rules. @returns the next state, or undefined if the step is refused. */
function next(state: State, step: Step, now: number): State | undefined {
  const { status, launchAt } = state;
  const launched = status === 'approved' && launchAt !== null && launchAt <= now;
  const isClosed = status === 'withdrawn' || launched;
  const before = { status, launchAt };
  const inTime = (time: number | null) => (time !== null && time > now ? time : now);
  const later = now + 5 * 3_600_000;
  switch (step) {
    case 'edit':
      return isClosed ? undefined : { ...state, status: 'waiting', undo: null };
    case 'reschedule':
    case 'launch at once': {
      const wanted = step === 'reschedule' ? later : null;
      if (isClosed) return undefined;
      const undo = wanted === launchAt || state.undo === null ? state.undo : { ...state.undo, launchAt: wanted };
      if (status === 'declined') return { ...state, status: 'waiting', launchAt: wanted, undo };
      return { ...state, launchAt: status === 'approved' ? inTime(wanted) : wanted, undo };
    }
    case 'withdraw':
      return launched ? undefined : { ...state, status: 'withdrawn', undo: null };
    case 'approve':
      if (status !== 'waiting' && status !== 'declined') return undefined;
      return { ...state, status: 'approved', launchAt: inTime(launchAt), undo: before };
    case 'schedule':
      if (isClosed || (status === 'approved' && launchAt === later)) return undefined;
      return { ...state, status: 'approved', launchAt: later, undo: before };
    case 'decline':
      return isClosed || status === 'declined' ? undefined : { ...state, status: 'declined', undo: before };
    case 'undo': {
      const { undo } = state;
      if (undo === null) return undefined;
      if (undo.status !== 'approved') return state.voted && launched ? undefined : { ...state, ...undo, undo: null };
      return launched ? undefined : { ...state, ...undo, launchAt: inTime(undo.launchAt), undo: null };
    }
    case 'vote':
      return launched ? { ...state, voted: true } : undefined;
    case 'wait':
      return state;
  }
}

test('after any actions of maker, operator and visitors in any order, a submission is in the state that a simple model predicts', async () => {
  let edits = 0;
  const anySteps = fc.array(fc.constantFrom(...STEPS), { minLength: 1, maxLength: 14, size: 'max' });
  await fc.assert(
    fc.asyncProperty(anySteps, async (steps) => {
      const maker = await harness.submit();
      let state: State = { status: 'waiting', launchAt: null, undo: null, voted: false };
      for (const step of steps) {
        const now = clock.now().getTime();
        edits += 1;
        const done = await codeOf(
          {
            edit: () => site.submissions.edit(maker, { description: `Edit ${edits}` }),
            reschedule: () => site.submissions.edit(maker, { launchAt: inHours(5).toISOString() }),
            'launch at once': () => site.submissions.edit(maker, { launchAt: null }),
            withdraw: () => site.submissions.withdraw(maker),
            approve: () => harness.approve(maker.id),
            decline: () => harness.decline(maker.id),
            schedule: () => harness.schedule(maker.id, inHours(5)),
            undo: () => harness.undo(maker.id),
            vote: () => site.core.setUpvote({ productId: maker.id, session: 'session-of-a-visitor', upvoted: true }),
            wait: async () => clock.advance({ hours: 2 }),
          }[step](),
        );
        const expected = next(state, step, now);
        expect(done === 'done', `${step} of ${JSON.stringify(state)}: ${done}`).toBe(expected !== undefined);
        state = expected ?? state;
        await expectState(maker, state);
      }
    }),
    { numRuns: 60 },
  );
});

async function expectState(maker: { id: string; makerKey: string }, { status, launchAt, undo }: State): Promise<void> {
  const now = clock.now().getTime();
  const shown: SubmissionStatus =
    status !== 'approved' ? status : launchAt !== null && launchAt > now ? 'scheduled' : 'launched';
  expect(await site.submissions.get(maker)).toMatchObject({
    status: shown,
    launchAt: launchAt === null || (launchAt <= now && status !== 'approved') ? null : new Date(launchAt).toISOString(),
  });
  expect((await harness.inspect(maker.id)).canUndo).toBe(undo !== null);
  expect(await harness.isPublic(maker.id)).toBe(shown === 'launched');
  const products = await site.database.query('SELECT FROM products WHERE id = $1', [maker.id]);
  expect(products.length).toBe(status === 'approved' ? 1 : 0);
}
