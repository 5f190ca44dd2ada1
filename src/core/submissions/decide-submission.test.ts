import { describe, expect, test } from 'vitest';
import { codeOf, openSubmissionHarness } from '../../../tests/support/submission-harness.ts';
import { listAudit } from '../audit/audit-log.ts';
import { editProduct } from '../products/edit-product.ts';
import { removeProducts } from '../products/remove-products.ts';
import { restoreProducts } from '../products/restore-products.ts';

const harness = openSubmissionHarness();
const { site, clock, inHours } = harness;

const REMOVED = 'The product was removed from the site.';

const vote = (productId: string) => site.core.setUpvote({ productId, session: 'session-of-a-visitor', upvoted: true });

describe('approving', () => {
  test('approving a submission without a launch time launches it immediately, with the defaults of products', async () => {
    const maker = await harness.submit({ name: 'Ebb', maker: ' ' });
    await harness.approve(maker.id);
    const detail = await site.core.getProduct(maker.id);
    expect(detail?.product).toMatchObject({
      id: 'ebb',
      maker: 'Unknown Maker',
      launchDate: 'June 1, 2026',
      createdAt: clock.now().toISOString(),
    });
    expect(await site.submissions.get(maker)).toMatchObject({ status: 'launched', revision: 2 });
  });

  test('approving a submission with a future launch time schedules it, and it launches at that time', async () => {
    const maker = await harness.submit({ launchAt: inHours(2).toISOString() });
    await harness.approve(maker.id);
    expect(await site.submissions.get(maker)).toMatchObject({ status: 'scheduled', standing: null, votesByHour: [] });
    expect(await harness.isPublic(maker.id)).toBe(false);
    clock.advance({ hours: 2 });
    expect(await site.submissions.get(maker)).toMatchObject({ status: 'launched', votesByHour: [{ votes: 0 }] });
    expect(await harness.isPublic(maker.id)).toBe(true);
  });

  test('approving a submission whose launch time has passed launches it immediately', async () => {
    const maker = await harness.submit({ launchAt: inHours(1).toISOString() });
    clock.advance({ hours: 3 });
    await harness.approve(maker.id);
    expect(await site.submissions.get(maker)).toMatchObject({
      status: 'launched',
      launchAt: clock.now().toISOString(),
    });
  });

  test('an approval that is requested twice at the same time succeeds once', async () => {
    const { id } = await harness.submit();
    const codes = await Promise.all([codeOf(harness.approve(id, 1)), codeOf(harness.approve(id, 1))]);
    expect(codes.sort()).toEqual(['done', 'submission_changed']);
    expect(await codeOf(harness.approve(id))).toBe('already_decided');
    expect((await listAudit(site.database, { limit: 9 })).filter(({ target }) => target === id)).toHaveLength(1);
  });

  test('approving a revision that the maker has edited since is refused', async () => {
    const maker = await harness.submit();
    await site.submissions.edit(maker, { description: 'Something else' });
    expect(await codeOf(harness.approve(maker.id, 1))).toBe('submission_changed');
    expect(await codeOf(harness.approve(maker.id, 2))).toBe('done');
  });

  test('an edited submission waits after a simultaneous approval, whichever comes first', async () => {
    const maker = await harness.submit({ description: 'Old', launchAt: inHours(1).toISOString() });
    const [approved, edited] = await Promise.all([
      codeOf(harness.approve(maker.id, 1)),
      codeOf(site.submissions.edit(maker, { description: 'New' })),
    ]);
    expect(edited).toBe('done');
    expect(['done', 'submission_changed']).toContain(approved);
    expect(await site.submissions.get(maker)).toMatchObject({ status: 'waiting', product: { description: 'New' } });
    expect(await site.database.query('SELECT FROM products WHERE id = $1', [maker.id])).toEqual([]);
  });
});

describe('declining', () => {
  test('after a decline, the maker sees the reason, and the operator can still approve the submission', async () => {
    const maker = await harness.submit();
    await harness.decline(maker.id, 'No picture');
    expect(await site.submissions.get(maker)).toMatchObject({ status: 'declined', reason: 'No picture' });
    expect(await codeOf(harness.decline(maker.id))).toBe('already_decided');
    await harness.approve(maker.id);
    expect(await site.submissions.get(maker)).toMatchObject({ status: 'launched', reason: null });
  });

  test('declining a scheduled submission cancels its launch, and undoing the decline schedules the launch again', async () => {
    const maker = await harness.submit({ launchAt: inHours(5).toISOString() });
    await harness.approve(maker.id);
    await harness.decline(maker.id);
    expect(await site.database.query('SELECT FROM products WHERE id = $1', [maker.id])).toEqual([]);
    await harness.undo(maker.id);
    expect(await site.submissions.get(maker)).toMatchObject({
      status: 'scheduled',
      launchAt: inHours(5).toISOString(),
    });
  });

  test("undoing a decline restores the operator's edits of the product", async () => {
    const maker = await harness.submit({ description: 'Tides and tydes', launchAt: inHours(5).toISOString() });
    await harness.approve(maker.id);
    await editProduct(site.database, maker.id, { values: { description: 'Tides and times' } }, { now: clock.now() });
    await harness.decline(maker.id);
    await site.submissions.edit(maker, { launchAt: inHours(7).toISOString() });
    await harness.undo(maker.id);
    expect(await site.submissions.get(maker)).toMatchObject({
      status: 'scheduled',
      product: { description: 'Tides and times', createdAt: inHours(7).toISOString() },
    });
  });

  test("a declined submission keeps the operator's edits of its product when the maker changes another field", async () => {
    const maker = await harness.submit({ description: 'Tydes', launchAt: inHours(5).toISOString() });
    await harness.approve(maker.id);
    const edited = { description: 'Tides', maker: 'Operator', createdAt: inHours(8).toISOString() };
    await editProduct(site.database, maker.id, { values: edited }, { now: clock.now() });
    await harness.decline(maker.id);
    const shown = { launchAt: edited.createdAt, product: edited };
    expect(await site.submissions.get(maker)).toMatchObject({ status: 'declined', ...shown });
    await site.submissions.edit(maker, { category: 'Weather' });
    expect(await site.submissions.get(maker)).toMatchObject({ status: 'waiting', ...shown });
    expect(await harness.inspect(maker.id)).toMatchObject({ approvedProduct: { description: 'Tides' } });
  });

  test('declining a submission after its launch is refused', async () => {
    const { id } = await harness.submit();
    await harness.approve(id);
    expect(await codeOf(harness.decline(id))).toBe('already_launched');
  });
});

describe('scheduling', () => {
  test('scheduling approves a submission for a time or moves its launch, and only a move to another time can be undone', async () => {
    const maker = await harness.submit();
    await harness.schedule(maker.id, inHours(1));
    expect(await site.submissions.get(maker)).toMatchObject({
      status: 'scheduled',
      launchAt: inHours(1).toISOString(),
    });
    await harness.schedule(maker.id, inHours(9));
    expect(await codeOf(harness.schedule(maker.id, inHours(9)))).toBe('already_decided');
    expect(await site.submissions.get(maker)).toMatchObject({ launchAt: inHours(9).toISOString() });
    await harness.undo(maker.id);
    expect(await site.submissions.get(maker)).toMatchObject({
      status: 'scheduled',
      launchAt: inHours(1).toISOString(),
    });
    expect(await codeOf(harness.undo(maker.id))).toBe('already_decided');
    clock.advance({ hours: 1 });
    expect(await codeOf(harness.schedule(maker.id, inHours(1)))).toBe('already_launched');
  });

  test('scheduling for a time that has passed is refused, so nothing launches by mistake', async () => {
    const maker = await harness.submit();
    expect(await codeOf(harness.schedule(maker.id, clock.now()))).toBe('submission_invalid');
    await harness.schedule(maker.id, inHours(1));
    expect(await codeOf(harness.schedule(maker.id, inHours(-1)))).toBe('submission_invalid');
    expect(await site.submissions.get(maker)).toMatchObject({
      status: 'scheduled',
      launchAt: inHours(1).toISOString(),
    });
  });
});

describe('undoing a decision', () => {
  test('undoing an approval removes the launched product from the site and its boards, and the maker key still works', async () => {
    const maker = await harness.submit();
    await harness.approve(maker.id);
    expect(await site.core.getStandings(maker.id)).not.toBeNull();
    await harness.undo(maker.id);
    expect(await harness.isPublic(maker.id)).toBe(false);
    expect(await site.database.query('SELECT FROM launches WHERE product_id = $1', [maker.id])).toEqual([]);
    expect(await site.submissions.get(maker)).toMatchObject({ status: 'waiting', launchAt: null });
    await harness.approve(maker.id);
    expect(await harness.isPublic(maker.id)).toBe(true);
  });

  test('undoing an approval is refused once others have voted or commented, and the error names the command that removes the product', async () => {
    const { id } = await harness.submit();
    await harness.approve(id);
    await vote(id);
    await expect(harness.undo(id)).rejects.toMatchObject({
      code: 'already_launched',
      message: expect.stringContaining(`groundswell products remove ${id}`),
    });
    await site.core.setUpvote({ productId: id, session: 'session-of-a-visitor', upvoted: false });
    await site.core.addComment({ productId: id, content: 'Nice' }, { session: 'session-of-a-visitor' });
    expect(await codeOf(harness.undo(id))).toBe('already_launched');
  });

  test('undoing an approval is possible if only the maker has commented', async () => {
    const maker = await harness.submit();
    await harness.approve(maker.id);
    await harness.commentAsMaker(maker);
    expect(await codeOf(harness.undo(maker.id))).toBe('done');
  });

  test.each([
    ['launched', 0],
    ['scheduled', 1],
  ])('undoing the decline of a %s product that was removed does not launch it again', async (status, hours) => {
    const maker = await harness.submit(hours === 0 ? {} : { launchAt: inHours(hours).toISOString() });
    await harness.approve(maker.id);
    const { launchAt } = await site.submissions.get(maker);
    await removeProducts(site.database, [maker.id], 'Malware');
    await harness.decline(maker.id, 'Malware');
    clock.advance({ milliseconds: 1 });
    await harness.undo(maker.id);
    expect(await site.database.query('SELECT FROM products WHERE id = $1', [maker.id])).toEqual([]);
    expect(await site.submissions.get(maker)).toMatchObject({ status: 'declined', reason: REMOVED, launchAt });
    await restoreProducts(site.database, { productIds: [maker.id] });
    expect(await site.submissions.get(maker)).toMatchObject({ status, launchAt });
  });

  test.each(['schedule', 'decline'] as const)(
    'undoing a %s restores the launch time that an operator set',
    async (decision) => {
      const maker = await harness.submit({ launchAt: inHours(2).toISOString() });
      await harness.approve(maker.id);
      const launchAt = inHours(48).toISOString();
      await editProduct(site.database, maker.id, { values: { createdAt: launchAt } }, { now: clock.now() });
      await (decision === 'decline' ? harness.decline(maker.id) : harness.schedule(maker.id, inHours(9)));
      clock.advance({ hours: 3 });
      await harness.undo(maker.id);
      expect(await site.submissions.get(maker)).toMatchObject({ status: 'scheduled', launchAt });
    },
  );

  test('undoing a schedule is refused after an operator edited the launch time', async () => {
    const maker = await harness.submit({ launchAt: inHours(3).toISOString() });
    await harness.approve(maker.id);
    await harness.schedule(maker.id, inHours(9));
    const launchAt = inHours(20).toISOString();
    await editProduct(site.database, maker.id, { values: { createdAt: launchAt } }, { now: clock.now() });
    await expect(harness.undo(maker.id)).rejects.toMatchObject({
      code: 'already_decided',
      message: expect.stringContaining('launch time has been edited'),
    });
    expect(await site.submissions.get(maker)).toMatchObject({ status: 'scheduled', launchAt });
  });

  test('undoing an approval is refused after the maker changed the text, but not if only the launch time changed', async () => {
    const maker = await harness.submit({ launchAt: inHours(1).toISOString() });
    await harness.approve(maker.id);
    await site.submissions.edit(maker, { launchAt: inHours(7).toISOString() });
    await harness.undo(maker.id);
    expect(await site.submissions.get(maker)).toMatchObject({ status: 'waiting', launchAt: inHours(7).toISOString() });
    await harness.approve(maker.id);
    await site.submissions.edit(maker, { description: 'New' });
    expect(await codeOf(harness.undo(maker.id))).toBe('already_decided');
  });
});

test('a submission whose product was removed is shown as declined, and can be approved again after an undo', async () => {
  const launched = await harness.submit();
  const scheduled = await harness.submit({ launchAt: inHours(1).toISOString() });
  for (const maker of [launched, scheduled]) {
    await harness.approve(maker.id);
    await removeProducts(site.database, [maker.id]);
    expect(await site.submissions.get(maker)).toMatchObject({
      status: 'declined',
      reason: REMOVED,
    });
    await harness.undo(maker.id);
    await harness.approve(maker.id);
  }
  expect(await site.submissions.get(launched)).toMatchObject({ status: 'launched', reason: null });
  expect(await site.submissions.get(scheduled)).toMatchObject({ status: 'scheduled' });
});

test('no decision is possible on an unknown or a withdrawn submission', async () => {
  const maker = await harness.submit();
  await site.submissions.withdraw(maker);
  for (const [id, code] of [
    [maker.id, 'submission_withdrawn'],
    ['nothing', 'submission_not_found'],
    ['\0', 'submission_not_found'],
  ] as const) {
    expect(await codeOf(harness.approve(id))).toBe(code);
    expect(await codeOf(harness.decline(id))).toBe(code);
    expect(await codeOf(harness.schedule(id, inHours(1)))).toBe(code);
    expect(await codeOf(harness.undo(id))).toBe(code);
  }
});

test('the audit log has each decision with its revision, and the undo names the entry that it reverts', async () => {
  const { id } = await harness.submit({ description: 'A text of the maker' });
  await harness.decline(id, 'No picture');
  await harness.undo(id);
  const entries = (await listAudit(site.database, { limit: 9 })).filter(({ target }) => target === id);
  expect(entries.map(({ action, details }) => [action, details])).toEqual([
    ['submissions undo', { revision: 2, of: 'decline' }],
    ['submissions decline', { revision: 1, reason: 'No picture' }],
  ]);
  const [row] = await site.database.query<{ undoes: string }>('SELECT undoes FROM audit_log WHERE id = $1', [
    entries[0]?.id,
  ]);
  expect(row?.undoes).toBe(entries[1]?.id);
});
