import { afterEach, expect, test, vi } from 'vitest';
import type { Submission } from '../../../contract/submissions/schema.ts';
import { sendPictures, storedPictures } from './pictures.ts';
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
])('of the screenshots %j, those at the indexes %j are removed', async (screenshots, dropped, left) => {
  const stored = { product: { image: '', screenshots } } as unknown as Submission;
  let latest = screenshots;
  vi.spyOn(submissionsClient, 'removeScreenshot').mockImplementation(async (_access, index) => {
    latest = latest.filter((_, each) => each !== index);
    return { product: { image: '', screenshots: latest } } as unknown as Submission;
  });
  const form = storedPictures(stored.product, '');
  const { product } = await sendPictures({
    access: { id: 'tide', key: 'key' },
    pictures: { ...form, screenshots: form.screenshots.filter((_, index) => !dropped.includes(index)) },
    stored,
    onChange: () => {},
    onStored: () => {},
  });
  expect(product.screenshots).toEqual(left);
});
