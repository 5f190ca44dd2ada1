import { expect, onTestFinished, test, vi } from 'vitest';
import { openSubmissionHarness } from '../../../tests/support/submission-harness.ts';
import { CoreError } from '../core-error.ts';

const harness = openSubmissionHarness();
const { site, inHours } = harness;

test('a launch that a maker moves or starts is reported as changed even if the connection is lost after the commit', async () => {
  const maker = await harness.submit({ launchAt: inHours(1).toISOString() });
  await harness.approve(maker.id);
  const lost = new CoreError('unavailable', 'Connection lost');
  const spy = vi.spyOn(site.database, 'query').mockRejectedValue(lost);
  onTestFinished(() => spy.mockRestore());
  const later = inHours(2).toISOString();
  expect(await site.submissions.edit(maker, { launchAt: later })).toMatchObject({
    status: 'scheduled',
    editable: true,
    launchAt: later,
    product: { createdAt: later },
  });
  expect(await site.submissions.edit(maker, { launchAt: null })).toMatchObject({ status: 'launched', standing: null });
  spy.mockRestore();
  expect((await site.submissions.get(maker)).standing).not.toBeNull();
});
