import { afterEach, expect, test, vi } from 'vitest';
import type { Submission } from '../../../contract/submissions/schema.ts';
import { addOthers, rebasePictures, savePictures, storedPictures } from './pictures.ts';
import { submissionsClient } from './submissions-client.ts';

afterEach(() => vi.restoreAllMocks());

test.each([
  [['a', 'b', 'a'], [2], ['a', 'b']],
  [['a', 'a', 'a'], [0, 1], ['a']],
  [
    ['a', 'b', 'c', 'b'],
    [0, 2],
    ['b', 'b'],
  ],
])('given the screenshots %j, only those at the indexes %j are removed', async (screenshots, dropped, left) => {
  const stored = { product: { image: '', screenshots } } as unknown as Submission;
  let latest = screenshots;
  vi.spyOn(submissionsClient, 'removeScreenshot').mockImplementation(async (_access, index, base) => {
    expect(base.product.screenshots, 'the version that has the index').toBe(latest);
    latest = latest.filter((_, each) => each !== index);
    return { product: { image: '', screenshots: latest } } as unknown as Submission;
  });
  const form = storedPictures(stored.product);
  const { product } = await savePictures({
    access: { id: 'tide', key: 'key' },
    pictures: { ...form, screenshots: form.screenshots.filter((_, index) => !dropped.includes(index)) },
    stored,
    onChange: () => {},
    onStored: () => {},
  });
  expect(product.screenshots).toEqual(left);
});

test('the maker’s new and removed pictures are applied to a newer version, which keeps its other pictures', () => {
  const before = storedPictures({ image: 'old', screenshots: ['a', 'b', 'b'] });
  const latest = storedPictures({ image: 'new', screenshots: ['a', 'b', 'b', 'c'] });
  const file = { key: 'file', src: 'data:', file: new File([], 'file.png') };
  const mine = { image: before.image, screenshots: [...before.screenshots.slice(0, 2), file] };
  const rebased = rebasePictures(mine, before, latest);
  expect(rebased.image?.src).toBe('new');
  expect(rebased.screenshots.map(({ src }) => src)).toEqual(['a', 'b', 'c', 'data:']);
  expect(rebasePictures({ ...mine, image: file }, before, latest).image).toBe(file);
});

test('after an upload, the form contains the pictures that others added, and its own pictures once each', () => {
  const before = storedPictures({ image: 'old', screenshots: ['a', 'b'] });
  const latest = storedPictures({ image: 'new', screenshots: ['a', 'b', 'theirs', 'mine'] });
  const file = { key: 'file', src: 'data:', file: new File([], 'file.png') };
  const screenshots = [...before.screenshots, { key: 'sent', src: 'mine' }, file];
  const form = addOthers({ image: before.image, screenshots }, before, latest);
  expect(form.image?.src).toBe('new');
  expect(form.screenshots.map(({ src }) => src)).toEqual(['a', 'b', 'mine', 'data:', 'theirs']);
  const fewer = storedPictures({ image: 'old', screenshots: ['b'] });
  expect(addOthers(fewer, before, fewer), 'after a removal').toEqual(fewer);
  expect(addOthers({ image: file, screenshots: [] }, before, before).image).toBe(file);
});
