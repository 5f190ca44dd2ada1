import { expect, test } from 'vitest';
import { CAP, rulesAt } from '../../../tests/support/launch-site.ts';
import { codeOf, openSubmissionHarness } from '../../../tests/support/submission-harness.ts';
import { undo } from '../../../tests/support/undo.ts';
import { finalizeDue } from '../leaderboards/finalize.ts';
import { editProduct } from '../products/edit-product.ts';
import { undoDecision } from './decide-submission.ts';

const harness = openSubmissionHarness();
const { site, clock, inHours } = harness;

test("undoing an approval is refused until an operator's edit of the product is reverted", async () => {
  const { id } = await harness.submit({ description: 'Tydes' });
  await harness.approve(id);
  await editProduct(site.database, id, { values: { description: 'Tides' } }, { now: clock.now() });
  await expect(harness.undo(id)).rejects.toThrow(`groundswell products remove ${id}`);
  await editProduct(site.database, id, { values: { description: 'Tydes' } }, { now: clock.now() });
  expect(await codeOf(harness.undo(id))).toBe('done');
});

test.each([
  ['Etc/GMT+12', 13, 'June 2, 2026'],
  ['Pacific/Kiritimati', 1, 'June 1, 2026'],
])(
  'undoing an approval in another time zone, %s, is refused only if the product was edited',
  async (timeZone, hours, date) => {
    const { id } = await harness.submit({ launchAt: inHours(hours).toISOString() });
    await harness.approve(id);
    const undo = () => codeOf(undoDecision(site.database, { id }, { now: clock.now(), timeZone }));
    await editProduct(site.database, id, { values: { launchDate: 'Summer 2026' } }, { now: clock.now() });
    expect(await undo()).toBe('already_decided');
    await editProduct(site.database, id, { values: { launchDate: date } }, { now: clock.now() });
    expect(await undo()).toBe('done');
  },
);

test('undoing an approval is refused if a vote counts in the final result, even if it was withdrawn after the window', async () => {
  const { id } = await harness.submit();
  await harness.approve(id);
  await site.core.setUpvote({ productId: id, session: 'session-of-a-visitor', upvoted: true });
  clock.advance({ hours: 25 });
  await site.core.setUpvote({ productId: id, session: 'session-of-a-visitor', upvoted: false });
  clock.advance({ hours: 48 });
  await finalizeDue(site.database, { rules: rulesAt(clock.now().toISOString()), votesPerNetwork: CAP });
  expect((await site.core.getStandings(id))?.day).toMatchObject({ status: 'final', votes: 1, upvotes: 0 });
  expect(await codeOf(harness.undo(id))).toBe('already_launched');
});

test('undoing an approval is refused after the product launched late because its postponement was undone, and the error names the launch time', async () => {
  // The audit log has the time of the database.
  clock.advance({ milliseconds: Date.now() - clock.now().getTime() });
  const { id } = await harness.submit({ launchAt: inHours(1).toISOString() });
  await harness.approve(id);
  const values = { createdAt: inHours(48).toISOString() };
  const { auditId } = await editProduct(site.database, id, { values }, { now: clock.now() });
  clock.advance({ hours: 2 });
  await undo(site.database, auditId, { runtime: clock });
  expect((await site.core.getProduct(id))?.product.createdAt).toBe(clock.now().toISOString());
  await expect(harness.undo(id)).rejects.toMatchObject({
    code: 'already_decided',
    message: expect.stringContaining('its product or the launch time has changed since'),
  });
});
