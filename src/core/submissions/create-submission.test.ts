import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { buildProduct } from '../../../tests/support/build-product.ts';
import { interruptTransactions } from '../../../tests/support/interrupted-transactions.ts';
import { codeOf, openSubmissionHarness } from '../../../tests/support/submission-harness.ts';
import type { NewSubmission } from '../../contract/submissions/schema.ts';
import { loadSample } from '../catalogue/load-sample.ts';
import { readSampleCatalogue } from '../catalogue/sample-catalogue.ts';
import { IdAssigner } from '../imports/assign-ids.ts';
import { removeProducts } from '../products/remove-products.ts';
import { saveProducts } from '../products/save-products.ts';
import { renewMakerKey } from './change-submission.ts';
import { deleteClosedSubmissions } from './submission-row.ts';

const harness = openSubmissionHarness();
const { site, clock, inHours } = harness;

const create = (
  sent: NewSubmission,
  {
    session = `session-${randomUUID()}`,
    ...others
  }: { session?: string; idempotencyKey?: string; network?: Uint8Array } = {},
) => site.submissions.create(sent, { session, ...others });
const idOf = async (sent: NewSubmission) => (await create(sent)).submission.id;

describe('ids', () => {
  test('the id is the slug of the name, numbered if a product, a removed product or a submission has the slug', async () => {
    await saveProducts(site.database, [buildProduct({ id: 'wave' }), buildProduct({ id: 'wave-2' })]);
    await removeProducts(site.database, ['wave-2']);
    expect([await idOf({ name: 'Wave' }), await idOf({ name: 'Wave!' })]).toEqual(['wave-3', 'wave-4']);
    expect(await idOf({ name: '波' })).toMatch(/^(?:bo|product-[0-9a-f]{10})$/);
  });

  test('simultaneous submissions with the same name get distinct ids', async () => {
    const ids = await Promise.all(Array.from({ length: 25 }, () => idOf({ name: 'Swell' })));
    expect(new Set(ids).size).toBe(25);
    for (const id of ids) expect(id).toMatch(/^swell(?:-\w{1,7})?$/);
  });

  test('the id of suspected spam is never a plain slug', async () => {
    const spam = await idOf({ name: 'Famous', website: 'https://spam.example' });
    expect(spam).toMatch(/^famous-[0-9a-f]{7}$/);
    expect(await harness.inspect(spam)).toMatchObject({ suspectedSpam: true, status: 'waiting' });
    expect(await idOf({ name: 'Famous' })).toBe('famous');
  });

  test('an imported product does not get the id of a submission', async () => {
    const id = await idOf({ name: 'Import me' });
    const ids = await new IdAssigner(new Map()).assign(site.database, [{ name: 'Import me' }, { name: 'Import me' }]);
    expect([id, ...ids]).toEqual(['import-me', 'import-me-2', 'import-me-3']);
  });

  test('loading the sample skips ids that submissions have reserved, even while it was loading', async () => {
    const sample = await readSampleCatalogue(join(import.meta.dirname, '../../../catalogue'));
    const products = sample.products.filter(({ id }) => ['git', 'react', 'excalidraw'].includes(id));
    const ids = [await idOf({ name: 'Git' })];
    const database = interruptTransactions(site.database, 'INSERT INTO products', async () => {
      if (ids.length === 1) ids.push(await idOf({ name: 'React' }));
    });
    expect(await loadSample(database, { ...sample, products }, clock)).toBe(1);
    expect(ids).toEqual(['git', 'react']);
    for (const id of ids) expect((await harness.approve(id)).status).toBe('approved');
  });

  test('the id of a submission that was withdrawn before a decision is free again after a day', async () => {
    const withdrawn = await harness.submit({ name: 'Undecided' });
    await site.submissions.withdraw(withdrawn);
    const waiting = await harness.submit({ name: 'Undecided' });
    clock.advance({ hours: 24 });
    await deleteClosedSubmissions(site.database, clock.now());
    expect(await codeOf(site.submissions.get(withdrawn))).toBe('done');
    clock.advance({ milliseconds: 1 });
    await deleteClosedSubmissions(site.database, clock.now());
    expect(await codeOf(site.submissions.get(withdrawn))).toBe('submission_not_found');
    expect([await idOf({ name: 'Undecided' }), waiting.id]).toEqual(['undecided', 'undecided-2']);
  });

  test('the id of a submission that was declined, or withdrawn after a decision, is free again after 30 days', async () => {
    const submitGone = () => harness.submit({ name: 'Gone', launchAt: inHours(1).toISOString() });
    const [declined, withdrawn, edited] = [await submitGone(), await submitGone(), await submitGone()];
    for (const { id } of [declined, withdrawn]) await harness.decline(id);
    await harness.approve(edited.id);
    await site.submissions.edit(edited, { description: 'Not approved' });
    for (const each of [withdrawn, edited]) await site.submissions.withdraw(each);
    const waiting = await idOf({ name: 'Gone' });
    clock.advance({ hours: 30 * 24 });
    await deleteClosedSubmissions(site.database, clock.now());
    for (const each of [declined, withdrawn, edited]) expect(await codeOf(site.submissions.get(each))).toBe('done');
    clock.advance({ milliseconds: 1 });
    await deleteClosedSubmissions(site.database, clock.now());
    for (const each of [declined, withdrawn, edited])
      expect(await codeOf(site.submissions.get(each))).toBe('submission_not_found');
    expect([await idOf({ name: 'Gone' }), waiting]).toEqual(['gone', 'gone-4']);
  });
});

describe('fields', () => {
  test('all invalid fields are reported at once, by field', async () => {
    const long = (length: number) => '🌊'.repeat(length);
    const sent = {
      name: ' \u200b ',
      description: long(10_001),
      category: long(301),
      maker: long(301),
      tags: [...Array.from({ length: 21 }, (_, index) => `${index}`), long(61)],
      team: [{ name: ' ' }, { name: 'Ada', role: long(301) }],
      launchAt: inHours(-1).toISOString(),
    };
    const error = await create(sent).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'submission_invalid' });
    expect((error as { fields: { field: string }[] }).fields.map(({ field }) => field)).toEqual([
      'description',
      'category',
      'maker',
      'name',
      'tags',
      'tags',
      'team',
      'team',
      'launchAt',
    ]);
  });

  test('characters that override the direction of text are removed', async () => {
    const { submission } = await create({
      name: ' \u202eTide\u202c ',
      description: 'Charts \u202dthe\u202c sea',
      tags: ['\u202asea\u202c', 'sea', '\u202b'],
      team: [{ name: '\u202eAda', role: 'Maker\u202e' }],
    });
    const { name, description, tags, team } = submission.product;
    expect({ name, description, tags }).toEqual({ name: 'Tide', description: 'Charts the sea', tags: ['sea'] });
    expect(team).toMatchObject([{ name: 'Ada', role: 'Maker' }]);
    await expect(create({ name: '\u202e' })).rejects.toMatchObject({ code: 'submission_invalid' });
    const hebrew = '\u2068\u05d2\u05dc\u2069 C++';
    expect((await create({ name: hebrew })).submission.product.name).toBe(hebrew);
  });

  test('values at the limits are accepted, and a launch time beyond its limit is refused', async () => {
    const sent = {
      name: 'é'.repeat(300),
      description: '🌊'.repeat(10_000),
      tags: Array.from({ length: 20 }, (_, index) => `${index}`.padEnd(60, 'x')),
      team: Array.from({ length: 50 }, () => ({ name: 'x'.repeat(300), role: 'x'.repeat(300) })),
      launchAt: inHours(366 * 24).toISOString(),
    };
    expect(await codeOf(create(sent))).toBe('done');
    expect(await codeOf(create({ name: 'x', launchAt: inHours(366 * 24 + 1).toISOString() }))).toBe(
      'submission_invalid',
    );
  });

  test.each(['tomorrow', '2026-12-01', '2026-12-01T09:00:00', '2026-02-30T09:00:00Z', '', '12/01/2026 09:00Z'])(
    "'%s' is not a launch time",
    async (launchAt) => {
      expect(await codeOf(create({ name: 'x', launchAt }))).toBe('submission_invalid');
    },
  );
});

describe('idempotency keys', () => {
  test('an idempotency key identifies one submission of its session; a repeated request gets an additional maker key', async () => {
    const session = 'session-retry';
    const sent = { name: 'Retry' };
    const [first, second] = await Promise.all([
      create(sent, { session, idempotencyKey: 'draft' }),
      create(sent, { session, idempotencyKey: 'draft' }),
    ]);
    expect([first.created, second.created].sort()).toEqual([false, true]);
    expect(second.submission.id).toBe(first.submission.id);
    for (const { makerKey } of [first, second]) {
      expect(await codeOf(site.submissions.get({ id: first.submission.id, makerKey }))).toBe('done');
    }
    expect((await create(sent, { session: 'session-other', idempotencyKey: 'draft' })).created).toBe(true);
    expect(await codeOf(create({ name: 'Other' }, { session, idempotencyKey: 'draft' }))).toBe(
      'idempotency_key_reused',
    );
    clock.advance({ hours: 25 });
    expect((await create(sent, { session, idempotencyKey: 'draft' })).created).toBe(true);
  });

  test('an idempotency key still identifies its submission after the launch time has passed', async () => {
    const sender = { session: 'session-late', idempotencyKey: 'draft' };
    const sent = { name: 'Late', launchAt: inHours(1).toISOString() };
    const { submission } = await create(sent, sender);
    clock.advance({ hours: 2 });
    const { submission: repeated, makerKey, created } = await create(sent, sender);
    expect([repeated.id, created]).toEqual([submission.id, false]);
    expect(await codeOf(site.submissions.get({ id: submission.id, makerKey }))).toBe('done');
    expect(await codeOf(create({ ...sent, name: 'Other' }, sender))).toBe('idempotency_key_reused');
    expect(await codeOf(create(sent, { ...sender, idempotencyKey: 'other' }))).toBe('submission_invalid');
  });

  test('after repeated requests with an idempotency key, only the five newest maker keys are valid', async () => {
    const made = [];
    for (let time = 0; time < 6; time += 1) {
      made.push(await create({ name: 'Six times' }, { session: 'session-six', idempotencyKey: 'draft' }));
    }
    const codes = await Promise.all(
      made.map(({ submission: { id }, makerKey }) => codeOf(site.submissions.get({ id, makerKey }))),
    );
    expect(codes).toEqual(['submission_not_found', 'done', 'done', 'done', 'done', 'done']);
  });

  test('an idempotency key no longer identifies a submission whose maker key the operator has renewed', async () => {
    const sender = { session: 'session-lost', idempotencyKey: 'draft' };
    const { submission, makerKey } = await create({ name: 'Lost' }, sender);
    const renewed = await renewMakerKey(site.database, submission.id);
    expect(await codeOf(site.submissions.get({ id: submission.id, makerKey }))).toBe('submission_not_found');
    expect(await codeOf(site.submissions.get({ id: submission.id, makerKey: renewed }))).toBe('done');
    expect((await create({ name: 'Lost' }, sender)).submission.id).not.toBe(submission.id);
    expect(await codeOf(renewMakerKey(site.database, 'nothing'))).toBe('submission_not_found');
  });
});

describe('networks', () => {
  const network = (last: number) => Uint8Array.from([192, 0, 2, last]);

  test('a network has at most five waiting submissions, even if they are sent at the same time; a decision frees a slot', async () => {
    const codes = await Promise.all(
      Array.from({ length: 8 }, () => codeOf(create({ name: 'Many' }, { network: network(1) }))),
    );
    expect(codes.filter((code) => code === 'done')).toHaveLength(5);
    expect(codes.filter((code) => code === 'too_many_waiting')).toHaveLength(3);
    expect(await codeOf(create({ name: 'Many' }, { network: network(2) }))).toBe('done');
    await harness.decline('many');
    expect(await codeOf(create({ name: 'Many' }, { network: network(1) }))).toBe('done');
    expect(await codeOf(create({ name: 'Many' }, { network: network(1) }))).toBe('too_many_waiting');
  });

  test('a network gains no slot by editing a declined submission, and loses none by repeating a request', async () => {
    const from = { network: network(3) };
    const declined = await create({ name: 'Declined' }, from);
    await harness.decline(declined.submission.id);
    const repeated = { session: 'session-repeats', idempotencyKey: 'draft', ...from };
    await create({ name: 'Repeated' }, repeated);
    for (let index = 0; index < 4; index += 1) await create({ name: 'Others' }, from);
    const access = { id: declined.submission.id, makerKey: declined.makerKey, ...from };
    expect(await codeOf(site.submissions.edit(access, { description: 'Better' }))).toBe('too_many_waiting');
    expect((await create({ name: 'Repeated' }, repeated)).created).toBe(false);
  });

  test('an edit of a scheduled submission takes up a slot, but is not refused if there is none', async () => {
    const from = { network: network(5) };
    const { submission, makerKey } = await create({ name: 'Scheduled', launchAt: inHours(9).toISOString() }, from);
    await harness.approve(submission.id);
    for (let index = 0; index < 5; index += 1) await create({ name: 'More' }, from);
    expect(
      await codeOf(site.submissions.edit({ id: submission.id, makerKey, ...from }, { description: 'Better' })),
    ).toBe('done');
    await harness.decline('more');
    expect(await codeOf(create({ name: 'More' }, from))).toBe('too_many_waiting');
  });

  test('the network is stored only until a decision, even if it is undone, or a withdrawal, and only as a hash', async () => {
    const { submission } = await create({ name: 'Hidden' }, { network: network(4) });
    const stored = async (id = submission.id) =>
      (await site.database.query<{ network: string | null }>('SELECT network FROM submissions WHERE id = $1', [id]))[0]
        ?.network;
    expect(await stored()).toMatch(/^[0-9a-f-]{36}$/);
    await harness.decline(submission.id);
    await harness.undo(submission.id);
    expect(await stored()).toBeNull();
    const withdrawn = await create({ name: 'Withdrawn' }, { network: network(4) });
    await site.submissions.withdraw({ id: withdrawn.submission.id, makerKey: withdrawn.makerKey });
    expect(await stored(withdrawn.submission.id)).toBeNull();
  });
});
