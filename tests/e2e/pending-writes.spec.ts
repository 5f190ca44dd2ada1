import { expect, test, visit } from '../support/e2e-test.ts';
import { expectUpvote, upvoteOf } from '../support/screen.ts';

test('a vote in one window is shown in another one, and they store it only a few times', async ({
  page,
  site,
  context,
}) => {
  const product = await site.addProduct({ name: 'Fernwood' });
  await visit(page, `/product/${product.id}`);
  const other = await context.newPage();
  await visit(other, `/product/${product.id}`);
  for (const each of [page, other]) {
    await expect(each.getByRole('region', { name: 'Network' }), 'the deferred features have loaded').toBeAttached();
    await each.evaluate(() => {
      window.storageEvents = 0;
      window.addEventListener('storage', () => {
        window.storageEvents += 1;
      });
    });
  }
  await upvoteOf(page, 'Fernwood').click();
  for (const each of [page, other]) await expectUpvote(each, 'Fernwood', { upvoted: true, count: 1 });
  await upvoteOf(other, 'Fernwood').click();
  for (const each of [page, other]) await expectUpvote(each, 'Fernwood', { upvoted: false, count: 0 });
  for (const each of [page, other]) expect(await each.evaluate(() => window.storageEvents)).toBeLessThan(10);
});

declare global {
  interface Window {
    /** The number of changes to local storage that other pages made. */
    storageEvents: number;
  }
}
