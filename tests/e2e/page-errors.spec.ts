import type { Page } from '@playwright/test';
import { expect, test, visit } from '../support/e2e-test.ts';
import { createPageErrors, type PageErrors, reportViolations } from '../support/page-errors.ts';
import { failureToast, toast, upvoteOf } from '../support/screen.ts';
import { submissionTest, submit } from '../support/submission-site.ts';

const ERRORS = {
  'an uncaught error': () => void setTimeout(() => JSON.parse('uncaught')),
  'an unhandled rejection': () => void Promise.reject(new SyntaxError('uncaught')),
  'a console error': () => console.error('SyntaxError: uncaught'),
  'a violation of the content security policy': () => {
    document.body.insertAdjacentHTML('beforeend', '<i style="color: red" title="uncaught">');
  },
};

function failureOf(errors: PageErrors): string {
  try {
    errors.verify();
    return '';
  } catch (error) {
    return String(error);
  }
}

test.describe('the fixture that every browser test uses', () => {
  for (const [name, cause] of Object.entries(ERRORS)) {
    test(`fails a test on ${name}, unless the test expects it`, async ({ browser, site }) => {
      const context = await browser.newContext({ baseURL: site.address });
      const errors = createPageErrors();
      await reportViolations(context);
      errors.watch(context);
      const page = await context.newPage();
      await page.goto('/product/git');
      expect(failureOf(errors)).toBe('');
      await page.evaluate(cause);
      const pattern = /SyntaxError|content policy: style-src|Content Security Policy/;
      await expect.poll(() => failureOf(errors)).toMatch(pattern);
      errors.expectError(pattern);
      expect(failureOf(errors)).toBe('');
      errors.expectError(/an error that never comes/);
      expect(failureOf(errors)).toMatch('an error that never comes');
      await context.close();
    });
  }
});

test('if a deployment has deleted the code of a page, a link to the page loads it as a document', async ({
  page,
  site,
  expectConsoleError,
}) => {
  expectConsoleError(/404 \(Not Found\)/);
  const { name } = await site.addProduct({ name: 'Hagfish' });
  const link = page.getByRole('link', { name, exact: true });
  const heading = page.getByRole('heading', { level: 1, name });
  await visit(page, '/?q=hagfish');
  let isReloaded = false;
  page.on('request', (request) => {
    isReloaded ||= request.isNavigationRequest();
  });
  await page.route(/\/assets\/product-[^/]*\.js$/, (route) =>
    isReloaded ? route.continue() : route.fulfill({ status: 404 }),
  );
  await link.click();
  await expect(heading).toBeVisible();
  expect(isReloaded).toBe(true);
  await upvoteOf(page, name).click();
  await expect(upvoteOf(page, name)).toHaveAttribute('data-confirmed', 'true');
  await page.goBack();
  await link.click();
  await expect(heading).toBeFocused();
});

for (const [when, act] of [
  ['click', (page: Page) => page.getByRole('heading', { level: 1 }).click()],
  ['visit', (page: Page) => page.goBack().then(() => page.goForward())],
] as const) {
  test(`a part of a page whose code cannot be loaded appears on the next ${when}`, async ({
    page,
    site,
    expectConsoleError,
  }) => {
    expectConsoleError(/ERR_FAILED/);
    const { name } = await site.addProduct({ name: `Lamprey ${when}` });
    const code = /\/assets\/product-side-[^/]*\.js$/;
    await visit(page, `/?q=lamprey+${when}`);
    await page.route(code, (route) => route.abort());
    const failed = page.waitForEvent('requestfailed', (request) => code.test(request.url()));
    await page.getByRole('link', { name, exact: true }).click();
    await failed;
    await expect(page.getByRole('heading', { level: 1, name })).toBeFocused();
    await page.unroute(code);
    const team = page.getByRole('heading', { name: 'Meet the team' });
    await expect(team).toHaveCount(0);
    await act(page);
    await expect(team).toBeVisible();
  });
}

test('messages and deferred features whose code cannot be loaded load on the next click', async ({
  page,
  site,
  expectConsoleError,
}) => {
  expectConsoleError(/ERR_FAILED/);
  const { id, name } = await site.addProduct({ name: 'Lumpsucker' });
  const code = /\/assets\/(?:deferred-features|toast-list)-[^/]*\.js$/;
  await page.route(code, (route) => route.abort());
  const failed = page.waitForEvent('requestfailed', (request) => request.url().includes('deferred-features'));
  await visit(page, `/product/${id}`);
  await failed;
  await page.unroute(code);
  const network = page.getByRole('region', { name: 'Network' });
  await expect(network).toHaveCount(0);
  await upvoteOf(page, name).click();
  await expect(toast(page).locator('.toast-title')).toHaveText('Upvoted!');
  await expect(network).toBeAttached();
});

test('if the code of the screenshot viewer cannot be loaded, the page stays and shows a message', async ({
  page,
  site,
  expectConsoleError,
}) => {
  expectConsoleError(/404 \(Not Found\)/);
  const { id, name } = await site.addProduct({ name: 'Seahorse', screenshots: ['/pictures/git/tile.svg'] });
  await page.route(/\/assets\/screenshot-viewer-[^/]*\.js$/, (route) => route.fulfill({ status: 404 }));
  await visit(page, `/product/${id}`);
  await page.getByRole('link', { name: `Screenshot 1 of ${name}` }).click();
  await expect(failureToast(page)).toContainText('Loading failed. Please try again.');
  await expect(page.getByRole('heading', { level: 1, name })).toBeVisible();
});

test('the message that code is missing has a button that reloads the page, because a deployment may have removed the code', async ({
  page,
  site,
  expectConsoleError,
}) => {
  expectConsoleError(/404 \(Not Found\)/);
  const { id } = await site.addProduct({ name: 'Snaggletooth' });
  const code = /\/assets\/share-dialog-[^/]*\.js$/;
  await page.route(code, (route) => route.fulfill({ status: 404 }));
  await visit(page, `/product/${id}`);
  const share = page.getByRole('button', { name: 'Share', exact: true });
  for (const _ of ['first', 'second']) {
    const failed = page.waitForResponse(code);
    await share.click();
    await failed;
  }
  await expect(failureToast(page)).toHaveCount(1);
  await page.unroute(code);
  const reloaded = page.waitForEvent('load');
  await failureToast(page).getByRole('button', { name: 'Reload' }).click();
  await reloaded;
  await share.click();
  await expect(page.getByRole('dialog')).toBeVisible();
});

submissionTest(
  'a maker’s page whose code cannot be loaded appears on the next click',
  async ({ page, site, expectConsoleError }) => {
    expectConsoleError(/ERR_FAILED/);
    expectConsoleError(/404 \(Not Found\)/);
    const { link, submission } = await submit(site, { name: 'Weever' });
    const code = /\/assets\/maker-view-[^/]*\.js$/;
    await page.route(code, (route) => route.abort());
    const failed = page.waitForEvent('requestfailed', (request) => code.test(request.url()));
    await page.goto(link);
    await failed;
    await page.unroute(code);
    await expect(failureToast(page)).toContainText('Loading failed. Please try again.');
    await page.getByRole('main').click();
    await expect(page.getByRole('heading', { level: 1, name: submission.product.name })).toBeVisible();
  },
);

submissionTest(
  'a click on the link opens a submission dialog whose code could not be loaded before, and closing it leads to the home page',
  async ({ page, expectConsoleError }) => {
    expectConsoleError(/ERR_FAILED/);
    const code = /\/assets\/submit-dialog-[^/]*\.js$/;
    await page.route(code, (route) => route.abort());
    await page.goto('/?submit');
    await expect(failureToast(page)).toContainText('Loading failed. Please try again.');
    await page.unroute(code);
    await page.getByRole('link', { name: 'Submit a product' }).first().press('Enter');
    await expect(page.getByRole('dialog')).toBeVisible();
    await page.keyboard.press('Escape');
    await expect(page.getByRole('dialog')).toHaveCount(0);
    await expect(page).toHaveURL('/');
  },
);
