import { describe, expect, test } from 'vitest';
import { buildProduct } from '../../../../tests/support/product-data.ts';
import { PRODUCT_FIELDS } from '../../../contract/products/fields.ts';
import { type Draft, errorsIn, newDraft, toDraft, toSubmission } from './draft.ts';

const NOW = Date.parse('2026-11-22T12:00:00Z');
const draft = (change: Partial<Draft>): Draft => ({ ...newDraft(), name: 'Tidal', ...change });
const fieldsOf = (change: Partial<Draft>) => errorsIn(draft(change), NOW).map(({ field }) => field);

describe('the errors of a draft', () => {
  test.each<[string, Partial<Draft>, string[]]>([
    ['none for a draft with only a name', {}, []],
    ['a name of only spaces', { name: '   ' }, ['name']],
    ['none for 300 code points of two code units each', { name: '🌊'.repeat(300) }, []],
    ['one character too many', { name: '🌊'.repeat(301) }, ['name']],
    ['a long description', { description: 'x'.repeat(10_001) }, ['description']],
    ['too many tags', { tags: Array.from({ length: 21 }, (_, index) => `${index}`) }, ['tags']],
    ['a long tag', { tags: ['x'.repeat(61)] }, ['tags']],
    ['a role without a name', { team: [{ name: '', role: 'Captain' }] }, ['team']],
    ['none for an empty team member', { team: [{ name: ' ', role: '' }] }, []],
    ['a launch in the past', { launchAt: '2026-11-22T11:59:59Z' }, ['launchAt']],
    ['none for a launch in the future', { launchAt: '2026-11-22T12:00:01Z' }, []],
    ['a time that is not filled in', { launchAt: 'incomplete' }, ['launchAt']],
    ['several errors', { launchAt: 'incomplete', maker: 'x'.repeat(301), name: '' }, ['name', 'maker', 'launchAt']],
  ])('%s', (_what, change, fields) => {
    expect(fieldsOf(change)).toEqual(fields);
  });
});

test('only the stored launch time may be in the past', () => {
  const [stored, other] = ['2026-11-22T09:00:00.000Z', '2026-11-22T09:01:00.000Z'];
  expect(errorsIn(draft({ launchAt: stored }), NOW, stored)).toEqual([]);
  expect(errorsIn(draft({ launchAt: other }), NOW, stored)).toHaveLength(1);
});

test('a draft is sent without its key, with trimmed texts and without empty people', () => {
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
    name: 'Tidal',
    description: '',
    tags: [],
    category: '',
    maker: '',
    team: [{ name: 'Ada', role: '' }],
    launchAt: null,
  });
});

test('defaults are not treated as texts of the maker', () => {
  const { description, category, maker } = PRODUCT_FIELDS;
  const product = buildProduct({ description: description.default, category: category.default, maker: maker.default });
  expect(toDraft(product, null)).toMatchObject({
    description: '',
    category: '',
    maker: '',
    launchAt: '',
  });
});
