import { expect, test } from 'vitest';
import { rulesAt } from '../../../tests/support/launch-site.ts';
import { openSubmissionHarness } from '../../../tests/support/submission-harness.ts';
import { editProduct } from '../products/edit-product.ts';
import { finalizeDue } from './finalize.ts';

const harness = openSubmissionHarness();
const { site, clock, inHours } = harness;

test('votes by hour include only counted votes while the window is open, after it has ended, and once the day is final', async () => {
  clock.advance({ milliseconds: 500 });
  const maker = await harness.submit();
  await harness.approve(maker.id);
  const launchedAt = clock.now();
  const vote = (session: string, upvoted = true) => site.core.setUpvote({ productId: maker.id, session, upvoted });
  const expectVotes = async (...votes: number[]) => {
    const { votesByHour } = await site.submissions.get(maker);
    expect(votesByHour.map((each) => each.votes)).toEqual(votes);
    expect(votesByHour[0]?.from).toBe(launchedAt.toISOString());
  };

  await vote('session-stays');
  await vote('session-leaves');
  await vote('session-uncounted');
  clock.advance({ hours: 2, milliseconds: 600 });
  await vote('session-uncounted', false);
  await vote('session-late');
  await expectVotes(2, 0, 1);
  clock.advance({ hours: 1, milliseconds: -500 });
  // The tally rounds the time of this vote, 100 ms after the third hour, down into that hour.
  await vote('session-next-hour');
  await expectVotes(2, 0, 2, 0);

  const all = [2, 0, 2, ...Array<number>(21).fill(0)];
  clock.advance({ hours: 24 });
  await vote('session-leaves', false);
  await vote('session-after-the-window');
  await expectVotes(...all);

  clock.advance({ hours: 72 });
  await finalizeDue(site.database, { rules: rulesAt(clock.now().toISOString()), votesPerNetwork: 20 });
  await vote('session-stays', false);
  await expectVotes(...all);

  await editProduct(
    site.database,
    maker.id,
    { values: { createdAt: inHours(-1).toISOString() } },
    { now: clock.now() },
  );
  await expectVotes(...all);
});
