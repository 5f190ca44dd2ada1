import { describe, expect, test } from 'vitest';
import { blockedStatements } from '../../../tests/support/blocked-statements.ts';
import { buildProduct } from '../../../tests/support/build-product.ts';
import { codeOf, openSubmissionHarness } from '../../../tests/support/submission-harness.ts';
import { editProduct } from '../products/edit-product.ts';
import { inspectProduct } from '../products/get-product.ts';
import { removeProducts } from '../products/remove-products.ts';
import { restoreProducts } from '../products/restore-products.ts';
import { saveProducts } from '../products/save-products.ts';
import { scheduleSubmission } from './decide-submission.ts';

const harness = openSubmissionHarness();
const { site, clock, inHours } = harness;

const imported = (id: string, hours = 0) =>
  buildProduct({ id, name: 'Imported', createdAt: inHours(hours).toISOString() });
const nameOf = async (id: string) => (await site.core.getProduct(id))?.product.name;

describe('an imported product with the id of a submission', () => {
  test('an approval does not overwrite an imported product with the same id, and the error says how to remove it', async () => {
    const { id } = await harness.submit();
    await saveProducts(site.database, [imported(id)]);
    expect(await codeOf(harness.approve(id))).toBe('id_taken');
    expect(await codeOf(harness.schedule(id, inHours(1)))).toBe('id_taken');
    await expect(harness.approve(id)).rejects.toThrow(`remove it first with \`groundswell products remove ${id}\`.`);
    expect(await nameOf(id)).toBe('Imported');
  });

  test('an approval that waits for an uncommitted import of a product with the same id does not overwrite that product', async () => {
    const { id } = await harness.submit();
    const approved = await site.database.transaction(async (sql) => {
      await saveProducts(sql, [imported(id)]);
      const approving = codeOf(harness.approve(id));
      await expect.poll(() => blockedStatements(site.database)).not.toEqual([]);
      return { approving };
    });
    expect(await approved.approving).toBe('id_taken');
    expect(await nameOf(id)).toBe('Imported');
    expect(await harness.inspect(id)).toMatchObject({ status: 'waiting', revision: 1 });
  });

  test("a maker's edit or withdrawal does not change an imported product with the same id", async () => {
    for (const change of ['edit', 'withdraw'] as const) {
      const maker = await harness.submit();
      await saveProducts(site.database, [imported(maker.id)]);
      await (change === 'edit'
        ? site.submissions.edit(maker, { description: 'New' })
        : site.submissions.withdraw(maker));
      expect(await nameOf(maker.id)).toBe('Imported');
    }
  });

  test('undoing a decline does not overwrite an imported product with the same id', async () => {
    const waiting = await harness.submit();
    const scheduled = await harness.submit({ launchAt: inHours(1).toISOString() });
    await harness.approve(scheduled.id);
    for (const { id } of [waiting, scheduled]) {
      await harness.decline(id);
      await saveProducts(site.database, [imported(id)]);
    }
    expect(await codeOf(harness.undo(scheduled.id))).toBe('id_taken');
    expect(await codeOf(harness.undo(waiting.id))).toBe('done');
    expect(await site.submissions.get(waiting)).toMatchObject({ status: 'waiting' });
    expect([await nameOf(scheduled.id), await nameOf(waiting.id)]).toEqual(['Imported', 'Imported']);
  });

  test('undoing an approval does not remove a product that was imported with the same id after the approval', async () => {
    const launched = await harness.submit();
    const scheduled = await harness.submit({ launchAt: inHours(1).toISOString() });
    for (const { id } of [launched, scheduled]) {
      await harness.approve(id);
      await saveProducts(site.database, [imported(id)]);
      expect(await codeOf(harness.undo(id))).toBe('already_decided');
      expect(await nameOf(id)).toBe('Imported');
    }
  });
});

describe.each([
  ['launched', 0],
  ['scheduled', 1],
])('a %s product', (status, hours) => {
  async function approved() {
    const maker = await harness.submit(hours === 0 ? {} : { launchAt: inHours(hours).toISOString() });
    await harness.approve(maker.id);
    return maker;
  }
  const remove = async (id: string) => (await removeProducts(site.database, [id])).removed[0]?.removalId ?? '';
  const importWithId = (id: string) => saveProducts(site.database, [imported(id, hours)]);
  const storedName = async (id: string) => (await inspectProduct(site.database, id)).product?.name;

  test('an imported product does not belong to the maker of the removed product that had its id', async () => {
    const maker = await approved();
    await remove(maker.id);
    await importWithId(maker.id);
    const removed = { status: 'declined', editable: false, product: { name: expect.stringMatching(/^Tide/) } };
    expect(await site.submissions.get(maker)).toMatchObject(removed);
    expect(await harness.inspect(maker.id)).toMatchObject({ product: { name: expect.stringMatching(/^Tide/) } });
    expect(await site.submissions.authorOf(maker)).toBeUndefined();
    const changes = [
      () => site.submissions.edit(maker, { description: 'New' }),
      () => site.submissions.setImage(maker, '/images/a.webp'),
      () => site.submissions.withdraw(maker),
      () => harness.schedule(maker.id, inHours(2)),
    ];
    for (const change of changes) expect(await codeOf(change())).toBe('already_launched');
    await harness.decline(maker.id);
    expect(await storedName(maker.id)).toBe('Imported');
    await harness.undo(maker.id);
    expect(await site.submissions.get(maker)).toMatchObject(removed);
    expect(await storedName(maker.id)).toBe('Imported');
  });

  test('the product belongs to its maker again if it is restored after another product had its id', async () => {
    const maker = await approved();
    const removalId = await remove(maker.id);
    await importWithId(maker.id);
    await remove(maker.id);
    await restoreProducts(site.database, { removalIds: [removalId] });
    expect(await site.submissions.get(maker)).toMatchObject({ status, editable: status === 'scheduled' });
    expect(await site.submissions.authorOf(maker)).toMatchObject({ authorBadge: 'Maker' });
  });

  test('the product belongs to its maker if it is approved after another product had its id', async () => {
    const maker = await harness.submit(hours === 0 ? {} : { launchAt: inHours(hours).toISOString() });
    await importWithId(maker.id);
    await remove(maker.id);
    await harness.approve(maker.id);
    expect(await site.submissions.get(maker)).toMatchObject({ status, editable: status === 'scheduled' });
    expect(await site.submissions.authorOf(maker)).toMatchObject({ authorBadge: 'Maker' });
  });
});

test('if another product had the id of a declined product, undoing the decline gives the maker access again', async () => {
  const maker = await harness.submit({ launchAt: inHours(1).toISOString() });
  await harness.approve(maker.id);
  await harness.decline(maker.id);
  await saveProducts(site.database, [imported(maker.id)]);
  await removeProducts(site.database, [maker.id]);
  await harness.undo(maker.id);
  expect(await site.submissions.get(maker)).toMatchObject({ status: 'scheduled', editable: true });
});

describe('the launch date of a scheduled product', () => {
  async function scheduled(launchDate: string) {
    const maker = await harness.submit({ launchAt: inHours(24).toISOString() });
    await harness.approve(maker.id);
    await editProduct(site.database, maker.id, { values: { launchDate } }, { now: clock.now() });
    const product = async () => {
      const { createdAt, launchDate: date } = (await inspectProduct(site.database, maker.id)).product ?? {};
      return [createdAt, date];
    };
    return { maker, id: maker.id, product };
  }

  test.each(['Summer 2026', 'June 2, 2026'])('a launch date of %s stays after an undone decline', async (text) => {
    const { id, product } = await scheduled(text);
    const before = await product();
    await harness.decline(id);
    expect(await product()).toEqual([undefined, undefined]);
    await harness.undo(id);
    expect(await product()).toEqual(before);
  });

  test.each([
    ['Summer 2026', 'Summer 2026'],
    ['June 2, 2026', 'June 3, 2026'],
  ])('a launch date of %s is %s after an operator or the maker moves the launch by a day', async (before, after) => {
    const { id, maker, product } = await scheduled(before);
    const [first] = await product();
    const [time, launchAt] = [inHours(48), inHours(49).toISOString()];
    await harness.schedule(id, time);
    expect(await product()).toEqual([time.toISOString(), after]);
    await harness.undo(id);
    expect(await product()).toEqual([first, before]);
    await site.submissions.edit(maker, { launchAt });
    expect(await product()).toEqual([launchAt, after]);
  });

  test.each(['Summer 2026', 'June 2, 2026'])(
    "a launch date of %s stays after the maker's edit of another field is approved",
    async (text) => {
      const { maker, id, product } = await scheduled(text);
      const before = await product();
      await site.submissions.edit(maker, { description: 'New' });
      expect((await site.submissions.get(maker)).product.launchDate).toBe(text);
      await harness.approve(id);
      expect(await product()).toEqual(before);
      expect(await codeOf(harness.undo(id))).toBe('done');
    },
  );

  test('the launch date is the new day after the launch moves, even if the site was in another time zone before', async () => {
    const { id, product } = await scheduled('June 2, 2026');
    const time = inHours(48);
    await scheduleSubmission(site.database, { id }, time, { now: clock.now(), timeZone: 'Pacific/Kiritimati' });
    expect(await product()).toEqual([time.toISOString(), 'June 4, 2026']);
  });

  test('the launch date stays if the product launches late because a decline is undone after the launch time has passed', async () => {
    const { id, product } = await scheduled('Summer 2026');
    await harness.decline(id);
    clock.advance({ hours: 30 });
    await harness.undo(id);
    expect(await product()).toEqual([clock.now().toISOString(), 'Summer 2026']);
  });
});

const session = 'session-of-a-visitor';
test.each<[string, (maker: { id: string; makerKey: string }) => Promise<unknown>]>([
  ['a vote', ({ id }) => site.core.setUpvote({ productId: id, session, upvoted: true })],
  ['a comment', ({ id }) => site.core.addComment({ productId: id, content: 'Nice' }, { session })],
  ["only its maker's comment", (maker) => harness.commentAsMaker(maker)],
])(
  'a launched product with %s whose launch an operator postpones is not deleted, and its maker cannot edit it',
  async (_what, follow) => {
    const maker = await harness.submit();
    await harness.approve(maker.id);
    await follow(maker);
    const counts = async () => {
      const { upvotes, comments } = (await site.core.getProduct(maker.id))?.product ?? {};
      return { upvotes, comments };
    };
    const before = await counts();
    await editProduct(
      site.database,
      maker.id,
      { values: { createdAt: inHours(24).toISOString() } },
      { now: clock.now() },
    );
    expect(await site.submissions.get(maker)).toMatchObject({ status: 'scheduled', editable: false });
    const changes = [
      site.submissions.edit(maker, { description: 'New' }),
      site.submissions.setImage(maker, '/images/a.webp'),
      site.submissions.withdraw(maker),
    ];
    expect(new Set(await Promise.all(changes.map(codeOf)))).toEqual(new Set(['already_launched']));
    await expect(harness.decline(maker.id)).rejects.toThrow(`groundswell products remove ${maker.id}`);
    await harness.schedule(maker.id, inHours(1));
    clock.advance({ hours: 1 });
    expect(await counts()).toEqual(before);
  },
);

test('a reschedule or a decline that waits for a lock until the product has launched is refused', async () => {
  const decisions = [(id: string) => harness.schedule(id, inHours(24)), harness.decline];
  for (const decide of decisions) {
    const { id } = await harness.submit({ launchAt: inHours(1).toISOString() });
    await harness.approve(id);
    const decided = await site.database.transaction(async (sql) => {
      await sql.query('SELECT FROM products WHERE id = $1 FOR NO KEY UPDATE', [id]);
      const deciding = codeOf(decide(id));
      await expect.poll(() => blockedStatements(site.database)).not.toEqual([]);
      clock.advance({ hours: 1 });
      await site.core.setUpvote({ productId: id, session, upvoted: true });
      return { deciding };
    });
    expect(await decided.deciding).toBe('already_launched');
  }
});

test('undoing a decline by an older version of the site sets fields that the version lacked to their defaults', async () => {
  const { id } = await harness.submit({ launchAt: inHours(2).toISOString() });
  await harness.approve(id);
  await harness.decline(id);
  await site.database.query("UPDATE submissions SET undo = undo #- '{product,category}' WHERE id = $1", [id]);
  await harness.undo(id);
  clock.advance({ hours: 2 });
  expect((await site.core.getProduct(id))?.product).toMatchObject({ category: 'Uncategorized' });
});
