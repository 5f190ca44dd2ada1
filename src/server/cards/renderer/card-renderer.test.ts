import { expect, onTestFinished, test } from 'vitest';
import { PACKAGE_FOLDERS } from '../../../settings/package-root.ts';
import { CARD_WORKER_FILE } from '../cards.ts';
import { createCardRenderer } from './card-renderer.ts';

test('the card worker draws a PNG', async () => {
  const renderer = createCardRenderer({
    log: console,
    fontFolder: PACKAGE_FOLDERS.cardFonts,
    workerFile: CARD_WORKER_FILE,
  });
  onTestFinished(() => renderer.close());
  const product = { id: 'git', name: 'Git', maker: '', description: '', upvotes: 0 };
  const brand = { name: 'Example', tagline: '', mark: { background: '#000000', shapes: [] } };
  const png = await renderer.render({ brand, product });
  expect(png.subarray(1, 4).toString()).toBe('PNG');
});
