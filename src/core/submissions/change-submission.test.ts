import { describe, expect, test } from 'vitest';
import { codeOf, openSubmissionHarness } from '../../../tests/support/submission-harness.ts';
import type { SubmissionPatch } from '../../contract/submissions/schema.ts';
import type { SourceValues } from '../imports/source-record.ts';
import { editProduct } from '../products/edit-product.ts';
import { removeProducts } from '../products/remove-products.ts';
import { restoreProducts } from '../products/restore-products.ts';

const harness = openSubmissionHarness();
const { site, clock, inHours } = harness;

describe('editing', () => {
  test('an edit changes the named fields of a waiting submission, and keeps its place in the queue', async () => {
    const maker = await harness.submit({ description: 'Old', tags: ['Sea'] });
    const before = await harness.inspect(maker.id);
    clock.advance({ hours: 1 });
    const edited = await site.submissions.edit(maker, { description: 'New', revision: 1 });
    expect(edited).toMatchObject({ status: 'waiting', revision: 2, product: { description: 'New', tags: ['Sea'] } });
    expect((await harness.inspect(maker.id)).waitingSince).toBe(before.waitingSince);
  });

  test('an edit without changes keeps the revision', async () => {
    const maker = await harness.submit({ description: 'Same' });
    expect(await site.submissions.edit(maker, { description: ' Same ' })).toMatchObject({ revision: 1 });
  });

  test('an edit of an older revision is refused', async () => {
    const maker = await harness.submit();
    await site.submissions.edit(maker, { description: 'One tab' });
    expect(await codeOf(site.submissions.edit(maker, { description: 'Other tab', revision: 1 }))).toBe(
      'submission_changed',
    );
  });

  test('an edit of a scheduled submission cancels the launch, and the operator still sees the approved version', async () => {
    const maker = await harness.submit({ description: 'Old', launchAt: inHours(1).toISOString() });
    await harness.approve(maker.id);
    await site.submissions.edit(maker, { description: 'New' });
    clock.advance({ hours: 2 });
    expect(await harness.isPublic(maker.id)).toBe(false);
    expect(await harness.inspect(maker.id)).toMatchObject({
      status: 'waiting',
      product: { description: 'New' },
      approvedProduct: { description: 'Old' },
    });
    await harness.approve(maker.id);
    expect((await site.core.getProduct(maker.id))?.product.description).toBe('New');
  });

  test('an edit of only the time keeps the approval, and a time of `null` launches the product immediately', async () => {
    const maker = await harness.submit({ launchAt: inHours(9).toISOString() });
    await harness.approve(maker.id);
    await site.submissions.edit(maker, { launchAt: inHours(1).toISOString() });
    expect(await site.submissions.get(maker)).toMatchObject({
      status: 'scheduled',
      launchAt: inHours(1).toISOString(),
    });
    await site.submissions.edit(maker, { launchAt: null });
    expect(await site.submissions.get(maker)).toMatchObject({ status: 'launched' });
    expect(await harness.isPublic(maker.id)).toBe(true);
  });

  test.each<[string, (launchAt: string) => SubmissionPatch]>([
    ['a text', () => ({ description: 'A text' })],
    ['only the time', () => ({ launchAt: inHours(9).toISOString() })],
    ['nothing', (launchAt) => ({ description: 'Old', launchAt })],
  ])('an edit that changes %s resubmits a declined submission', async (_what, patch) => {
    const launchAt = inHours(5).toISOString();
    const maker = await harness.submit({ description: 'Old', launchAt });
    await harness.decline(maker.id, 'No text');
    clock.advance({ hours: 1 });
    const sent = patch(launchAt);
    expect(await site.submissions.edit(maker, sent)).toMatchObject({
      status: 'waiting',
      reason: null,
      revision: 3,
      launchAt: sent.launchAt ?? launchAt,
    });
    expect((await harness.inspect(maker.id)).waitingSince).toBe(clock.now().toISOString());
  });

  test('an edit may repeat a launch time that has passed since, but not set another past time', async () => {
    const launchAt = inHours(1).toISOString();
    const maker = await harness.submit({ launchAt });
    clock.advance({ hours: 2 });
    expect(await codeOf(site.submissions.edit(maker, { description: 'New', launchAt }))).toBe('done');
    expect(await codeOf(site.submissions.edit(maker, { launchAt: inHours(-0.5).toISOString() }))).toBe(
      'submission_invalid',
    );
  });

  test('after the launch, edits, changes of pictures, a new launch time and withdrawal are refused', async () => {
    const maker = await harness.submit({ launchAt: inHours(1).toISOString() });
    await harness.approve(maker.id);
    clock.advance({ hours: 1 });
    const changes = [
      site.submissions.edit(maker, { description: 'New' }),
      site.submissions.edit(maker, { launchAt: inHours(1).toISOString() }),
      site.submissions.setImage(maker, '/images/a.webp'),
      site.submissions.addScreenshot(maker, '/images/a.webp'),
      site.submissions.removeScreenshot(maker, 0),
      site.submissions.withdraw(maker),
      site.submissions.requireEditable(maker),
    ];
    expect(new Set(await Promise.all(changes.map(codeOf)))).toEqual(new Set(['already_launched']));
    expect(await harness.isPublic(maker.id)).toBe(true);
  });
});

describe('a scheduled product that an operator edited', () => {
  const scheduled = async (values: SourceValues) => {
    const maker = await harness.submit({
      description: 'Tides and tydes',
      team: [{ name: 'Ada', role: 'Sailor' }],
      launchAt: inHours(2).toISOString(),
    });
    for (const name of ['a', 'b', 'c']) await site.submissions.addScreenshot(maker, `/images/${name}.webp`);
    await harness.approve(maker.id);
    await editProduct(site.database, maker.id, { values }, { now: clock.now() });
    return maker;
  };

  test("a maker's edit of only the time keeps the operator's edits and the approval, even if it repeats the other fields", async () => {
    const team = [{ name: 'Ada', role: 'Captain', avatar: '/images/ada.webp' }];
    const maker = await scheduled({ description: 'Tides and times', category: 'Sea', team });
    const sent = {
      description: 'Tides and times',
      category: 'Sea',
      maker: '',
      team: [{ name: 'Ada', role: 'Captain' }],
      launchAt: inHours(30).toISOString(),
    };
    expect(await site.submissions.edit(maker, sent)).toMatchObject({
      status: 'scheduled',
      product: { description: 'Tides and times', maker: 'Unknown Maker', team, createdAt: sent.launchAt },
    });
  });

  test("a maker's edit of another field keeps the operator's edits, which are part of the approved version", async () => {
    const maker = await scheduled({ description: 'Tides and times', category: 'Sea' });
    await site.submissions.edit(maker, { category: 'Ocean' });
    expect(await harness.inspect(maker.id)).toMatchObject({
      status: 'waiting',
      product: { description: 'Tides and times', category: 'Ocean' },
      approvedProduct: { description: 'Tides and times', category: 'Sea' },
    });
  });

  test("a maker's edit keeps the launch time that the operator set, and the maker can set the earlier time again", async () => {
    const [first, later] = [inHours(2).toISOString(), inHours(48).toISOString()];
    const [postponed, moved] = [await scheduled({ createdAt: later }), await scheduled({ createdAt: later })];
    expect(await site.submissions.edit(moved, { launchAt: first })).toMatchObject({ launchAt: first });
    clock.advance({ hours: 3 });
    const edited = await site.submissions.edit(postponed, { description: 'New', launchAt: later });
    expect(edited).toMatchObject({ status: 'waiting', launchAt: later });
    await harness.approve(postponed.id);
    expect(await harness.isPublic(postponed.id)).toBe(false);
  });

  test("a maker's edit is refused if it is based on the product before the operator's edit, and accepted if it is based on the current one", async () => {
    const maker = await harness.submit({ description: 'Tides and tydes', launchAt: inHours(2).toISOString() });
    expect(await site.submissions.get(maker)).toMatchObject({ productVersion: null });
    await harness.approve(maker.id);
    const { revision, productVersion } = await site.submissions.get(maker);
    await editProduct(site.database, maker.id, { values: { description: 'Tides and times' } }, { now: clock.now() });
    const sent = { description: 'Tides and more', revision };
    expect(await codeOf(site.submissions.edit(maker, { ...sent, productVersion }))).toBe('submission_changed');
    const current = await site.submissions.get(maker);
    expect(current).toMatchObject({ revision, product: { description: 'Tides and times' } });
    const edited = await site.submissions.edit(maker, { ...sent, productVersion: current.productVersion });
    expect(edited).toMatchObject({ status: 'waiting', product: { description: 'Tides and more' } });
  });

  test('removing a screenshot removes the one that the maker sees at the index after an operator changed the screenshots', async () => {
    const maker = await scheduled({ screenshots: ['/images/b.webp', '/images/c.webp'] });
    const { product } = await site.submissions.removeScreenshot(maker, 0);
    expect(product.screenshots).toEqual(['/images/c.webp']);
  });
});

describe('pictures', () => {
  test('pictures are set, added and removed one by one', async () => {
    const maker = await harness.submit();
    await site.submissions.setImage(maker, '/images/tile.webp');
    await site.submissions.addScreenshot(maker, '/images/a.webp');
    await site.submissions.addScreenshot(maker, '/images/b.webp');
    const { product } = await site.submissions.removeScreenshot(maker, 0);
    expect(product).toMatchObject({ image: '/images/tile.webp', screenshots: ['/images/b.webp'] });
    expect(await codeOf(site.submissions.removeScreenshot(maker, 1))).toBe('screenshot_not_found');
    expect(await codeOf(site.submissions.removeScreenshot(maker, -1))).toBe('screenshot_not_found');
  });

  test('a screenshot that is sent again because the response was lost is stored once', async () => {
    const maker = await harness.submit();
    for (const name of ['a', 'b', 'a']) await site.submissions.addScreenshot(maker, `/images/${name}.webp`);
    const { product, revision } = await site.submissions.get(maker);
    expect(product.screenshots).toEqual(['/images/a.webp', '/images/b.webp']);
    expect(revision).toBe(3);
  });

  test('screenshots that are sent at the same time are all stored, up to the limit of a product', async () => {
    const maker = await harness.submit();
    const added = await Promise.all(
      Array.from({ length: 52 }, (_, index) => codeOf(site.submissions.addScreenshot(maker, `/images/${index}.webp`))),
    );
    expect(added.filter((code) => code === 'done')).toHaveLength(50);
    expect(added.filter((code) => code === 'submission_invalid')).toHaveLength(2);
    expect((await site.submissions.get(maker)).product.screenshots).toHaveLength(50);
  });

  test('a new picture makes a scheduled submission wait again', async () => {
    const maker = await harness.submit({ launchAt: inHours(1).toISOString() });
    await harness.approve(maker.id);
    expect(await site.submissions.setImage(maker, '/images/other.webp')).toMatchObject({ status: 'waiting' });
  });

  test('a change of pictures does not resubmit a declined submission, because an upload may have begun before the decline', async () => {
    const maker = await harness.submit();
    await harness.decline(maker.id, 'Too early');
    const { setImage, addScreenshot, removeScreenshot } = site.submissions;
    const url = '/images/a.webp';
    const changes = [setImage(maker, url), addScreenshot(maker, url), removeScreenshot(maker, 0)];
    expect(new Set(await Promise.all(changes.map(codeOf)))).toEqual(new Set(['submission_changed']));
    expect(await site.submissions.get(maker)).toMatchObject({ status: 'declined', reason: 'Too early', revision: 2 });
  });
});

describe('withdrawing', () => {
  test.each(['waiting', 'declined', 'scheduled'])(
    'withdrawing a %s submission is permanent, and withdrawing it again has no effect',
    async (state) => {
      const maker = await harness.submit({ launchAt: inHours(1).toISOString() });
      if (state === 'declined') await harness.decline(maker.id);
      if (state === 'scheduled') await harness.approve(maker.id);
      expect(await site.submissions.withdraw(maker)).toMatchObject({ status: 'withdrawn' });
      const again = await site.submissions.withdraw(maker);
      expect(again).toEqual(await site.submissions.get(maker));
      expect(await codeOf(site.submissions.edit(maker, { description: 'New' }))).toBe('submission_withdrawn');
      clock.advance({ hours: 2 });
      expect(await harness.isPublic(maker.id)).toBe(false);
    },
  );

  test('withdrawing during an approval either succeeds, or is refused because the product launched', async () => {
    for (let round = 0; round < 5; round += 1) {
      const maker = await harness.submit();
      const [approved, withdrawn] = await Promise.all([
        codeOf(harness.approve(maker.id)),
        codeOf(site.submissions.withdraw(maker)),
      ]);
      const { status } = await site.submissions.get(maker);
      expect([status, approved, withdrawn]).toEqual(
        status === 'launched'
          ? ['launched', 'done', 'already_launched']
          : ['withdrawn', 'submission_withdrawn', 'done'],
      );
      expect(await harness.isPublic(maker.id)).toBe(status === 'launched');
    }
  });
});

test.each([
  ['launched', 0],
  ['scheduled', 1],
])(
  'a removed %s product cannot be changed or withdrawn by its maker, and restoring it restores the permissions of its maker',
  async (status, hours) => {
    const maker = await harness.submit(hours === 0 ? {} : { launchAt: inHours(hours).toISOString() });
    await harness.approve(maker.id);
    await removeProducts(site.database, [maker.id]);
    expect(await site.submissions.get(maker)).toMatchObject({ status: 'declined', editable: false });
    expect(await codeOf(site.submissions.edit(maker, { name: 'Another' }))).toBe('already_launched');
    expect(await codeOf(site.submissions.withdraw(maker))).toBe('already_launched');
    await restoreProducts(site.database, { productIds: [maker.id] });
    expect(await site.submissions.get(maker)).toMatchObject({ status, editable: status === 'scheduled' });
    const outcome = status === 'scheduled' ? 'done' : 'already_launched';
    expect(await codeOf(site.submissions.edit(maker, { name: 'Another' }))).toBe(outcome);
    expect(await codeOf(site.submissions.withdraw(maker))).toBe(outcome);
  },
);

test('every change needs the maker key of the same submission', async () => {
  const { id } = await harness.submit();
  const { makerKey } = await harness.submit();
  for (const access of [
    { id, makerKey },
    { id, makerKey: undefined },
    { id: 'nothing', makerKey },
  ]) {
    expect(await codeOf(site.submissions.get(access))).toBe('submission_not_found');
    expect(await codeOf(site.submissions.edit(access, { name: 'Mine' }))).toBe('submission_not_found');
    expect(await codeOf(site.submissions.withdraw(access))).toBe('submission_not_found');
    expect(await codeOf(site.submissions.setImage(access, '/images/a.webp'))).toBe('submission_not_found');
    expect(await codeOf(site.submissions.addScreenshot(access, '/images/a.webp'))).toBe('submission_not_found');
    expect(await codeOf(site.submissions.removeScreenshot(access, 0))).toBe('submission_not_found');
    expect(await codeOf(site.submissions.authorOf(access))).toBe('submission_not_found');
  }
  expect(await harness.inspect(id)).toMatchObject({ revision: 1, status: 'waiting' });
});
