import { expect, test, visit } from '../support/e2e-test.ts';
import { failResponses, setOnline } from '../support/network.ts';
import { networkNotice, offlineTest, skipFeatureDelay, visitAndCache } from '../support/offline-page.ts';
import { commentArticles, commentBox, commentTexts, discussion, failureToast, postButton } from '../support/screen.ts';

const POST = /\/api\/comments$/;

test('the draft of a comment on each product survives a reload, a visit to another page and a closed tab', async ({
  page,
  site,
}) => {
  const [one, other] = await site.addProducts(2, (index) => ({ name: `Ash ${index}` }));
  await visit(page, `/product/${one?.id}`);
  await commentBox(page).fill('Begun on one');
  await page.reload();
  await expect(commentBox(page)).toHaveValue('Begun on one');
  await visit(page, `/product/${other?.id}`);
  await expect(commentBox(page)).toHaveValue('');
  await commentBox(page).fill('Begun on the other');
  await page.goBack();
  await expect(commentBox(page)).toHaveValue('Begun on one');
  const later = await page.context().newPage();
  await page.close();
  await visit(later, `/product/${other?.id}`);
  await expect(commentBox(later)).toHaveValue('Begun on the other');
});

test('two tabs share a draft, and posting it in one tab clears it in both', async ({ page, site }) => {
  const product = await site.addProduct({ name: 'Birch' });
  await visit(page, `/product/${product.id}`);
  const second = await page.context().newPage();
  await visit(second, `/product/${product.id}`);
  await commentBox(page).fill('White bark');
  await expect(commentBox(second)).toHaveValue('White bark');
  await postButton(second).click();
  await expect(commentTexts(second)).toHaveText(['White bark']);
  await expect(commentBox(second)).toHaveValue('');
  await expect(commentBox(page)).toHaveValue('');
  await visit(page, `/product/${product.id}`);
  await expect(commentBox(page)).toHaveValue('');
});

test('the focus stays on the button if posting fails, moves to the heading after posting, and to the first added comment when more comments load', async ({
  page,
  site,
  expectConsoleError,
}) => {
  expectConsoleError(/ERR_FAILED/);
  const product = await site.addProduct({ name: 'Elder' });
  await site.addComments(
    product.id,
    Array.from({ length: 31 }, (_, index) => ({ content: `Berry ${index}`, likes: 100 - index })),
  );
  await visit(page, `/product/${product.id}`);
  await page.route(POST, (route) => route.abort());
  await commentBox(page).fill('Black berries');
  await postButton(page).press('Enter');
  await expect(failureToast(page)).toHaveCount(1);
  await expect(postButton(page)).toBeFocused();
  await page.unroute(POST);
  await page.keyboard.press('Enter');
  await expect(commentArticles(page)).toHaveCount(31);
  await expect(discussion(page).getByRole('heading', { level: 2 })).toBeFocused();
  await page.getByRole('link', { name: 'Show more comments' }).press('Enter');
  await expect(commentArticles(page)).toHaveCount(32);
  await expect(page.locator('.comment').last()).toBeFocused();
});

offlineTest(
  'posting a comment offline fails if storage is full, and the draft stays',
  async ({ page, site, expectConsoleError }) => {
    expectConsoleError(/503/);
    await skipFeatureDelay(page);
    const product = await site.addProduct({ name: 'Halibut' });
    await visitAndCache(page, `/product/${product.id}`);
    await page.evaluate(() => {
      const { setItem } = Storage.prototype;
      Storage.prototype.setItem = function (key, value) {
        if (key === 'outbox' && value !== '[]') throw new DOMException('Full', 'QuotaExceededError');
        setItem.call(this, key, value);
      };
    });
    await failResponses(page, /\/comments$/, { method: 'POST' });
    await setOnline(page, false);
    await commentBox(page).fill('Too much');
    await postButton(page).click();
    await expect(failureToast(page).locator('.toast-description')).toHaveText(
      'Failed to add comment. Please try again.',
    );
    await expect(commentBox(page)).toHaveValue('Too much');
    await expect(networkNotice(page)).not.toContainText('waiting to be sent');
  },
);
