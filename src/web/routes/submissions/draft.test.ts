import { describe, expect, onTestFinished, test } from 'vitest';
import { exampleProduct } from '../../../../tests/support/product-data.ts';
import { MAKER_TEXTS, PRODUCT_FIELDS } from '../../../contract/products/fields.ts';
import { setLanguage } from '../../language/translate.ts';
import { type Draft, draftOf, errorsIn, newDraft, readDraft, rebase, teamText, toSubmission } from './draft.ts';

const draft = (change: Partial<Draft>): Draft => ({ ...newDraft(), name: 'Tidal', ...change });
const fieldsOf = (change: Partial<Draft>) => errorsIn(draft(change)).map(({ field }) => field);

describe('the check of a draft finds', () => {
  test.each<[string, Partial<Draft>, string[]]>([
    ['no error in a draft with only a name', {}, []],
    ['a name that consists only of spaces', { name: '   ' }, ['name']],
    ['no error in a name of 300 code points with two code units each', { name: '🌊'.repeat(300) }, []],
    ['a name that is one character too long', { name: '🌊'.repeat(301) }, ['name']],
    ['a description that is too long', { description: 'x'.repeat(10_001) }, ['description']],
    ['too many tags', { tags: Array.from({ length: 21 }, (_, index) => `${index}`) }, ['tags']],
    ['a tag that is too long', { tags: ['x'.repeat(61)] }, ['tags']],
    ['a role without a name', { team: [{ name: '', role: 'Captain' }] }, ['team']],
    ['no error in an empty team member', { team: [{ name: ' ', role: '' }] }, []],
    ['no error in a launch time in the past, which only the server finds', { launchAt: '2020-01-01T00:00:00Z' }, []],
    ['a launch time that is not filled in', { launchAt: 'incomplete' }, ['launchAt']],
    ['several errors', { launchAt: 'incomplete', maker: 'x'.repeat(301), name: '' }, ['name', 'maker', 'launchAt']],
  ])('%s', (_what, change, fields) => {
    expect(fieldsOf(change)).toEqual(fields);
  });
});

test('a draft is sent without its idempotency key, with trimmed texts and without empty team members', () => {
  const sent = toSubmission(
    draft({
      name: ' Tidal ',
      team: [
        { name: ' Ada ', role: '' },
        { name: '', role: ' ' },
      ],
    }),
  );
  expect(sent).toEqual({
    ...Object.fromEntries(MAKER_TEXTS.map((field) => [field, ''])),
    name: 'Tidal',
    tags: [],
    team: [{ name: 'Ada', role: '' }],
    launchAt: null,
  });
});

test('a stored draft keeps its valid fields', () => {
  const { maker: _maker, ...stored } = { ...draft({ category: 'Sea', launchAt: 'incomplete' }), tags: [7], team: null };
  const fallback = newDraft();
  const { idempotencyKey } = stored;
  expect(readDraft(stored, fallback)).toEqual({
    ...fallback,
    ...{ name: 'Tidal', category: 'Sea', launchAt: 'incomplete', idempotencyKey },
  });
  for (const other of [null, undefined, 7, 'text', []]) expect(readDraft(other, fallback)).toEqual(fallback);
});

test('default values of a product become empty fields of the draft', () => {
  const { description, category, maker } = PRODUCT_FIELDS;
  const product = exampleProduct({
    description: description.default,
    category: category.default,
    maker: maker.default,
  });
  expect(draftOf({ product, launchAt: null })).toMatchObject({
    description: '',
    category: '',
    maker: '',
    launchAt: '',
  });
});

test('names and roles of a team are separated by the comma of the page’s language', () => {
  setLanguage({ locale: 'ja', messages: { ', ': '、' } });
  onTestFinished(() => setLanguage({ locale: 'en-US' }));
  expect(
    teamText([
      { name: 'Ada', role: 'Captain' },
      { name: 'Grace', role: '' },
    ]),
  ).toBe('Ada、Captain · Grace');
});

describe('a draft rebased onto a newer version of the submission', () => {
  const before = draft({ description: 'Old', tags: ['Sea'], team: [{ name: 'Ada', role: '' }] });

  test('keeps the maker’s changes, and adopts changes to other fields', () => {
    const mine = { ...before, description: 'Mine', tags: ['Sea', 'Tide, high'], name: `${before.name} ` };
    const latest = { ...before, name: 'Tides', maker: 'Ada', launchAt: '2026-12-01T09:00:00.000Z' };
    expect(rebase(mine, before, latest)).toEqual({
      draft: { ...mine, name: 'Tides', maker: 'Ada', launchAt: '2026-12-01T09:00:00.000Z' },
      conflicts: [],
    });
  });

  test('keeps the maker’s value of a field that someone else has changed too, and shows the other value', () => {
    const mine = { ...before, description: 'Mine', tags: ['Tide'], team: [], launchAt: '2026-12-01T09:00:00.000Z' };
    const latest = { ...before, description: '', tags: ['Sea', 'Wind'], team: [{ name: 'Ada', role: 'Captain' }] };
    const said = (value: string) => `In the meantime, this was changed to: ${value}`;
    expect(rebase(mine, before, latest)).toEqual({
      draft: mine,
      conflicts: [
        { field: 'description', detail: said('–') },
        { field: 'tags', detail: said('Sea, Wind') },
        { field: 'team', detail: said('Ada, Captain') },
      ],
    });
  });

  test('shows only the beginning of a long conflicting value', () => {
    const latest = { ...before, description: 'Tides and waves. '.repeat(500) };
    const [conflict] = rebase({ ...before, description: 'Mine' }, before, latest).conflicts;
    expect(conflict?.detail).toMatch(/: (Tides and waves\. ){11}.{13}…$/);
  });

  test('has no conflict in a field that someone else has changed in the same way', () => {
    const same = { ...before, description: 'Same' };
    expect(rebase(same, before, { ...same }).conflicts).toEqual([]);
  });
});
