import { expect, test } from 'vitest';
import { buildProduct } from '../../../../tests/support/build-product.ts';
import {
  changesOf,
  draftOf,
  fieldValue,
  membersOf,
  previewOf,
  shownText,
  teamText,
  withPicture,
} from './product-draft.ts';

const product = {
  ...buildProduct({
    id: 'tide',
    name: 'Tide',
    tags: ['Sea', 'Moon'],
    team: [
      { name: 'Ada', role: 'Maker', avatar: '/a.svg' },
      { name: 'Bo', role: '', avatar: '/b.svg' },
    ],
    screenshots: ['/one.png', '/two.png'],
    createdAt: '2026-11-22T09:30:00.000Z',
  }),
  upvotes: 0,
  comments: 0,
};

test('an unchanged draft sends no fields', () => {
  expect(changesOf(draftOf(product), draftOf(product))).toEqual({});
});

test('the text of each changed field is converted to the type that the API expects', () => {
  const before = draftOf(product);
  const draft = {
    ...before,
    name: 'Ebb',
    tags: ' Sea,, Sand \nWind',
    screenshots: '/one.png\n\n /three.png ',
    team: teamText([
      { name: 'Ada', role: 'Skipper | Cook', avatar: '/a.svg' },
      { name: '', role: ' ', avatar: '' },
      { name: 'Cy', role: '', avatar: '' },
    ]),
    createdAt: '2026-12-01T10:00',
  };
  expect(changesOf(before, draft)).toEqual({
    name: 'Ebb',
    tags: ['Sea', 'Sand', 'Wind'],
    screenshots: ['/one.png', '/three.png'],
    team: [
      { name: 'Ada', role: 'Skipper | Cook', avatar: '/a.svg' },
      { name: 'Cy', role: '', avatar: '' },
    ],
    createdAt: '2026-12-01T10:00Z',
  });
});

test('a team member without a role keeps its picture when another member is edited', () => {
  const draft = draftOf(product);
  const [ada, ...others] = membersOf(draft);
  expect(fieldValue('team', teamText([{ ...ada, name: 'Eve', role: 'Maker', avatar: '' }, ...others]))).toEqual([
    { name: 'Eve', role: 'Maker', avatar: '' },
    { name: 'Bo', role: '', avatar: '/b.svg' },
  ]);
  expect(shownText('team', draft.team)).toBe('Ada, Maker, /a.svg\nBo, /b.svg');
});

test('an empty launch time is sent without a time zone, so the server can reject it', () => {
  expect(fieldValue('createdAt', '')).toBe('');
});

test('an uploaded picture replaces the image, or is appended to the screenshots', () => {
  const draft = { ...draftOf(product), screenshots: '/one.png\n' };
  expect(withPicture(draft, 'image', '/images/a.webp')).toEqual({ ...draft, image: '/images/a.webp' });
  expect(withPicture(draft, 'screenshots', '/images/a.webp')).toEqual({
    ...draft,
    screenshots: '/one.png\n/images/a.webp',
  });
});

test('tags that contain commas are edited as a JSON array, and are not split', () => {
  const tagged = { ...product, tags: ['C, C++', '[beta]', ' "quoted" '] };
  const before = draftOf(tagged);
  expect(before.tags).toBe('["C, C++","[beta]"," \\"quoted\\" "]');
  expect(previewOf(tagged, before).tags).toEqual(tagged.tags);
  expect(changesOf(before, { ...before, tags: before.tags.replace('beta', 'gamma') })).toEqual({
    tags: ['C, C++', '[gamma]', ' "quoted" '],
  });
});

test.each([
  ['[beta], tools', ['[beta]', 'tools']],
  ['[1]', ['[1]']],
  ['["open', ['["open']],
  ['["Sea"]', ['Sea']],
])('the text %j of the tags field is read as the tags %j', (text, tags) => {
  expect(fieldValue('tags', text)).toEqual(tags);
});

test.each([['[beta]'], ['["Sea"]'], ['Sea\nside']])(
  'the tag %j is unchanged after conversion to text and back',
  (tag) => {
    expect(fieldValue('tags', draftOf({ ...product, tags: [tag] }).tags)).toEqual([tag]);
  },
);
