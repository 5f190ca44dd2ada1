import { expect, type Page } from '@playwright/test';
import { browserStates } from './browser-states.ts';
import type { E2eSite } from './e2e-site.ts';
import { visit } from './e2e-test.ts';
import { failResponses, holdResponses } from './network.ts';
import { cardNames, failureToast, searchBox, toast, upvoteOf } from './screen.ts';
import type { ScreenState } from './screen-state.ts';

/** Without a hyphen, at which it could break. */
const LONG = 'IncomprehensibilitiesAndOtherWordsThatDoNotBreakAnywhereAtAllNow';

/**
 * Adds what the states below show: a rich product, a bare one, and one whose every text is as long as can be. They are
 * made anew each time, without what the test before did to them.
 */
export async function addStateProducts(site: E2eSite) {
  await site.database.query("DELETE FROM products WHERE id LIKE 'zz-%'");
  const [bare, rich, long] = await site.addProducts(
    3,
    (index) =>
      [
        { id: 'zz-bare', name: 'Zz bare', image: '' },
        {
          id: 'zz-rich',
          name: 'Zz rich',
          description: 'The first line.\nThe second line, which is a little longer than the first.',
          image: '/pictures/git/tile.svg',
          tags: ['editor', 'tools', 'open source', 'terminal'],
          team: [{ name: 'Ada Lovelace', avatar: '', role: 'Maker' }],
          screenshots: ['/pictures/git/tile.svg', '/pictures/vim/tile.svg'],
        },
        {
          id: 'zz-long',
          name: LONG.repeat(5).slice(0, 300),
          description: LONG.repeat(20),
          maker: LONG,
          category: LONG,
          launchDate: LONG,
          tags: [LONG.slice(0, 60), LONG.slice(1, 60), LONG.slice(2, 60)],
          team: [{ name: LONG, avatar: '', role: LONG }],
        },
      ][index],
  );
  if (!bare || !rich || !long) throw new Error('Three products were asked for');
  await site.addUpvotes(rich.id, 3);
  await site.addComments(rich.id, [
    ...Array.from({ length: 31 }, (_, index) => ({ content: `Comment ${index}. https://example.org/`, likes: index })),
    { content: 'Plainly marked', authorName: 'Grace', authorBadge: 'Sample', likes: 99 },
  ]);
  await site.addComments(long.id, [{ content: `${LONG.repeat(20)} https://example.org/${LONG}`, authorName: LONG }]);
  return { bare, rich, long };
}

type StateProducts = Awaited<ReturnType<typeof addStateProducts>>;

/**
 * Every screen in every state that a visitor can meet. A page that went through one of them goes on to the next. The page has
 * its clock installed and is `live`.
 */
export function screenStates(site: E2eSite, { bare, rich, long }: StateProducts): ScreenState[] {
  const home = async (page: Page) => {
    await visit(page, '/?q=zz');
    await expect(cardNames(page).first()).toBeVisible();
  };
  const product = (id: string) => (page: Page) => visit(page, `/product/${id}`);
  return [
    { name: 'home', open: (page) => visit(page, '/') },
    { name: 'home, a search', open: home },
    {
      name: 'home, upvoted, with its toast',
      async open(page) {
        await home(page);
        await upvoteOf(page, 'Zz bare').click();
        await expect(toast(page)).toHaveCount(1);
        await page.mouse.move(0, 0);
      },
    },
    {
      name: 'home, an upvote that failed, with its toast',
      async open(page) {
        await home(page);
        await failResponses(page, /\/upvote$/, { method: 'PUT', times: 1 });
        await upvoteOf(page, 'Zz rich').click();
        await expect(failureToast(page)).toHaveCount(1);
      },
    },
    {
      name: 'home, a search without result',
      async open(page) {
        await visit(page, '/');
        await searchBox(page).fill('zzz-nothing');
        await expect(page.getByText(/^Nothing on the horizon/)).toBeVisible();
      },
    },
    {
      name: 'home, loading',
      async open(page) {
        await visit(page, `/product/${rich.id}`);
        await holdResponses(page, /\/api\/products(\?|$)/);
        await page.getByRole('link', { name: 'Back to products' }).click();
        await expect(page.getByText('Loading products...', { exact: true })).toBeVisible();
      },
    },
    {
      name: 'home, failed',
      async open(page) {
        await visit(page, `/product/${rich.id}`);
        const failed = await failResponses(page, /\/api\/products(\?|$)/);
        await page.getByRole('link', { name: 'Back to products' }).click();
        for (const requests of [1, 2, 3]) {
          await expect.poll(() => failed.requests.length).toBeGreaterThanOrEqual(requests);
          await page.clock.fastForward(4_000);
        }
        await expect(page.getByText('Failed to load products', { exact: true })).toBeVisible();
      },
    },
    {
      name: 'home, by a tag and in another order',
      open: (page) => visit(page, '/?tag=tools&sort=top'),
    },
    {
      name: 'home, the menu open where there is one',
      async open(page) {
        await visit(page, '/');
        const menu = page.getByLabel('Menu');
        if (await menu.isVisible()) await menu.click();
      },
    },
    { name: 'home, a product with long texts', open: (page) => visit(page, `/?q=${LONG.slice(0, 30)}`) },
    { name: 'product', open: product(rich.id) },
    { name: 'product without comments, team and screenshots', open: product(bare.id) },
    {
      name: 'product, upvoted, with its picture and its screenshots missing',
      async open(page) {
        await page.route(/\/pictures\/(?:git|vim)\//, (route) => route.fulfill({ body: '', contentType: 'image/png' }));
        await visit(page, `/product/${rich.id}`);
        await upvoteOf(page, 'Zz rich').click();
        await expect(upvoteOf(page, 'Zz rich')).toHaveAttribute('aria-pressed', 'true');
        await expect(page.getByRole('img', { name: 'Screenshot 1 of Zz rich' })).toHaveClass(/picture-placeholder/);
      },
    },
    { name: 'product with long texts', open: product(long.id) },
    {
      name: 'product, loading',
      async open(page) {
        await holdResponses(page, new RegExp(`/api/products/${long.id}$`));
        await visit(page, `/product/${rich.id}`);
        await page.getByRole('button', { name: 'Previous', exact: true }).click();
        await expect(page.getByText('Loading product...', { exact: true })).toBeVisible();
      },
    },
    {
      name: 'product, its comments out of reach',
      async open(page) {
        await home(page);
        const failed = await failResponses(page, /\/comments\?/);
        await page.getByRole('link', { name: 'Zz rich', exact: true }).click();
        await expect.poll(() => failed.requests.length).toBeGreaterThan(0);
        await page.clock.fastForward(1_000);
        await expect(page.getByText('The comments are out of reach right now.')).toBeVisible();
      },
    },
    {
      name: 'product, posting a comment',
      async open(page) {
        await visit(page, `/product/${rich.id}`);
        await holdResponses(page, /\/api\/comments$/, { method: 'POST' });
        await page.getByRole('textbox', { name: 'Your comment' }).fill('A comment on its way');
        await page.getByRole('button', { name: 'Post Comment' }).click();
        await expect(page.getByRole('button', { name: 'Posting...' })).toBeVisible();
      },
    },
    {
      name: 'product, a comment that is too long and failed before',
      async open(page) {
        await visit(page, `/product/${rich.id}`);
        await failResponses(page, /\/api\/comments$/, { method: 'POST' });
        await page.getByRole('textbox', { name: 'Your comment' }).fill('Short');
        await page.getByRole('button', { name: 'Post Comment' }).click();
        await expect(failureToast(page)).toHaveCount(1);
        await page.getByRole('textbox', { name: 'Your comment' }).fill('x'.repeat(2_020));
        await expect(page.getByText('20 characters too many')).toBeVisible();
      },
    },
    {
      name: 'product, the viewer',
      async open(page) {
        await visit(page, `/product/${rich.id}`);
        await page.getByRole('link', { name: 'Screenshot 1 of Zz rich' }).click();
        await expect(page.getByRole('dialog')).toBeVisible();
      },
    },
    {
      name: 'product, the ways to share',
      async open(page) {
        await visit(page, `/product/${long.id}`);
        await page.getByRole('button', { name: 'Share', exact: true }).click();
        await expect(page.getByRole('dialog')).toBeVisible();
      },
    },
    ...browserStates(site, rich),
    {
      name: 'an unknown product',
      async open(page) {
        await page.goto('/product/unknown');
        await expect(page.getByText('Product not found', { exact: true })).toBeVisible();
      },
    },
    {
      name: 'the 404 page',
      async open(page) {
        await page.goto('/unknown');
        await expect(page.getByText('Oops! Page not found')).toBeVisible();
      },
    },
  ];
}
