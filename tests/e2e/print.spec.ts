import * as paths from '../../src/contract/paths.ts';
import { expect, test, visit } from '../support/e2e-test.ts';
import { commentWith, upvoteOf } from '../support/screen.ts';
import { stateContent } from '../support/screen-state.ts';

// By default, browsers do not print backgrounds, so the light text of the dark theme would be invisible on paper.
test('a printed page has dark text and no controls, even in the dark theme', async ({ page, site }) => {
  const { rich } = await stateContent(site);
  const { id, name } = await site.addProduct({ name: 'Papyrus' });
  await site.addComments(id, [{ content: 'A line of a long comment\n'.repeat(40) }]);
  await page.emulateMedia({ colorScheme: 'dark' });
  for (const path of ['/?q=zz', `/product/${rich.id}`, '/?board=2026']) {
    await page.emulateMedia({ media: 'screen' });
    if (path.includes('board')) await page.goto(path);
    else await visit(page, path);
    await page.emulateMedia({ media: 'print' });
    const flaws = () =>
      page.evaluate(() => {
        const isShown = (element: Element) => element.checkVisibility() && element.getClientRects().length > 0;
        const controls = [...document.querySelectorAll('button, input, select, textarea, summary')];
        const pale: string[] = [];
        for (const element of document.querySelectorAll('body *')) {
          const own = [...element.childNodes].some(
            (node) => node.nodeType === Node.TEXT_NODE && node.textContent?.trim(),
          );
          if (!own || !isShown(element) || element.closest('.visually-hidden, .picture, .avatar, script')) continue;
          const [red = 0, green = 0, blue = 0] = (getComputedStyle(element).color.match(/\d+/g) ?? []).map(Number);
          if (0.2126 * red + 0.7152 * green + 0.0722 * blue > 118)
            pale.push(`${getComputedStyle(element).color} ${element.className}: ${element.textContent}`);
        }
        return {
          pale,
          controls: controls
            .filter((each) => isShown(each) && !each.matches('.upvote, .screenshots button'))
            .map((each) => each.outerHTML.slice(0, 90)),
          tooWide: document.documentElement.scrollWidth > window.innerWidth,
        };
      });
    // The new medium takes effect in the next frame.
    await expect.poll(flaws, path).toEqual({ pale: [], controls: [], tooWide: false });
    await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
  }
  await page.emulateMedia({ media: 'screen' });
  await visit(page, paths.product(id));
  await page.emulateMedia({ media: 'print' });
  await expect(page.getByRole('heading', { name: /^Discussion/ })).toBeVisible();
  await expect(upvoteOf(page, name)).toHaveCSS('background-color', 'rgba(0, 0, 0, 0)');
  await expect(page.getByRole('link', { name: 'Back to products' })).toBeHidden();
  const isWhole = (element: HTMLElement) => element.scrollHeight <= element.clientHeight;
  expect(await commentWith(page, 'A line of a long comment').locator('.comment-text').evaluate(isWhole)).toBe(true);
});
