import { expectAccessible } from '../support/axe.ts';
import { expect, test, visit } from '../support/e2e-test.ts';
import { cardNames, commentTexts, searchBox, toast, upvoteOf } from '../support/screen.ts';
import { addStateProducts, screenStates } from '../support/states.ts';

const VIEWPORTS = { phone: { width: 390, height: 844 }, desktop: { width: 1280, height: 900 } };

test.describe('§2: every screen and state is accessible (WCAG 2.2 AA and good practice)', () => {
  test.use({ live: true });

  for (const [device, viewport] of Object.entries(VIEWPORTS)) {
    for (const colorScheme of ['light', 'dark'] as const) {
      test(`axe finds nothing: ${device}, ${colorScheme}`, async ({ page, site, expectConsoleError }) => {
        test.setTimeout(300_000);
        expectConsoleError(/503|404/);
        expectConsoleError(/Failed to fetch products/);
        await page.setViewportSize(viewport);
        await page.emulateMedia({ colorScheme });
        await page.clock.install();
        for (const state of screenStates(site, await addStateProducts(site))) {
          await state.open(page);
          await expect(page.getByRole('heading', { level: 1, includeHidden: true }), state.name).toHaveCount(1);
          await expectAccessible(page, state.name);
          await page.unrouteAll({ behavior: 'ignoreErrors' });
        }
      });
    }
  }

  test('nothing is lost to those who enlarge text or force colours', async ({ page, site }) => {
    const { rich } = await addStateProducts(site);
    await page.emulateMedia({ forcedColors: 'active' });
    await page.setViewportSize({ width: 640, height: 450 });
    for (const path of ['/?q=zz', `/product/${rich.id}`]) {
      await visit(page, path);
      await expect(searchBox(page)).toBeVisible();
      await expect(upvoteOf(page, 'Zz rich')).toBeVisible();
      await expectAccessible(page, path);
    }
  });
});

test.describe('§2: by keyboard alone', () => {
  const focusedName = 'the element with the focus';

  test('the skip link comes first and leads to the content; the order is that of the page', async ({ page, site }) => {
    await site.addProduct({ name: 'Tabby', tags: ['one-tag'] });
    await visit(page, '/?q=tabby');
    const focused = page.locator(':focus');
    await page.keyboard.press('Tab');
    await expect(focused, focusedName).toHaveText('Skip to content');
    await expect(focused).toBeInViewport();
    const order = [
      page.getByRole('link', { name: 'Groundswell, home' }),
      searchBox(page),
      page.getByRole('button', { name: 'Search', exact: true }),
      page.getByRole('button', { name: 'Saved products' }),
      page.getByRole('button', { name: 'Dark theme' }),
      page.getByRole('link', { name: 'Newest' }),
      page.getByRole('link', { name: 'Top', exact: true }),
      page.getByRole('link', { name: 'Discussed' }),
      page.getByRole('link', { name: /^Remove Search:/ }),
      page.getByRole('link', { name: 'Tabby', exact: true }),
      page.getByRole('link', { name: 'one-tag', exact: true }),
      page.getByRole('link', { name: /^View Comments/ }),
      page.getByRole('button', { name: 'Save Tabby' }),
      upvoteOf(page, 'Tabby'),
      page.getByRole('contentinfo').getByRole('link', { name: 'Groundswell' }),
      page.getByRole('button', { name: 'Keyboard shortcuts' }),
    ];
    for (const element of order) {
      await page.keyboard.press('Tab');
      await expect(element).toBeFocused();
    }
    await page.reload();
    await visit(page, '/?q=tabby');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await expect(page.getByRole('main')).toBeFocused();
    await page.keyboard.press('Tab');
    await expect(page.getByRole('link', { name: 'Newest' })).toBeFocused();
  });

  test('whatever has the focus shows it', async ({ page, site }) => {
    const { rich } = await addStateProducts(site);
    for (const path of ['/?q=zz+rich', `/product/${rich.id}`]) {
      await visit(page, path);
      const unseen = new Set<string>();
      const seen = new Set<string>();
      for (let presses = 0; presses < 40; presses += 1) {
        await page.keyboard.press('Tab');
        const focus = await page.evaluate(() => {
          const element = document.activeElement;
          if (!element || element === document.body) return null;
          const ringed = (candidate: Element, pseudo?: string) => {
            const { outlineStyle, outlineWidth } = getComputedStyle(candidate, pseudo);
            return outlineStyle !== 'none' && Number.parseFloat(outlineWidth) >= 2;
          };
          const form = element.closest('form, .search-box');
          const shown =
            ringed(element) ||
            ringed(element, '::after') ||
            (form !== null && getComputedStyle(form).boxShadow !== 'none');
          return { shown, what: element.outerHTML.slice(0, 120) };
        });
        if (!focus) break;
        (focus.shown ? seen : unseen).add(focus.what);
      }
      expect([...unseen], path).toEqual([]);
      expect(seen.size).toBeGreaterThan(10);
    }
  });

  test('the focus moves to the heading of a page that one comes to, and the title says which it is', async ({
    page,
    site,
  }) => {
    await site.addProducts(2, (index) => ({ name: `Manx ${index + 1}` }));
    await visit(page, '/?q=manx');
    await page.getByRole('link', { name: 'Manx 1', exact: true }).press('Enter');
    await expect(page.getByRole('heading', { level: 1, name: 'Manx 1' })).toBeFocused();
    // A key, unlike a click, does not wait until the neighbours are known.
    const previous = page.getByRole('button', { name: 'Previous', exact: true });
    await expect(previous).toBeEnabled();
    await previous.press('Enter');
    await expect(page.getByRole('heading', { level: 1, name: 'Manx 2' })).toBeFocused();
    await expect(page).toHaveTitle('Manx 2 · Groundswell');
    await page.getByRole('link', { name: 'Back to products' }).press('Enter');
    await expect(page.getByRole('heading', { level: 1, name: /^Welcome/ })).toBeFocused();
  });

  test('one can search, upvote, write and like a comment', async ({ page, site }) => {
    await site.addProduct({ name: 'Sphynx' });
    await visit(page, '/');
    await page.keyboard.press('/');
    await page.keyboard.type('sphynx');
    await expect(cardNames(page)).toHaveText(['Sphynx']);
    await page.getByRole('link', { name: 'Sphynx', exact: true }).focus();
    await page.keyboard.press('Enter');
    await expect(page.getByRole('heading', { level: 1, name: 'Sphynx' })).toBeFocused();
    await page.keyboard.press('Tab');
    await expect(upvoteOf(page, 'Sphynx')).toBeFocused();
    await page.keyboard.press('Space');
    await expect(toast(page).locator('.toast-title')).toHaveText('Upvoted!');
    await page.getByRole('textbox', { name: 'Your comment' }).focus();
    await page.keyboard.type('By hand');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await expect(commentTexts(page)).toHaveText(['By hand']);
    await page.getByRole('button', { name: 'Like 0' }).focus();
    await page.keyboard.press('Enter');
    await expect(page.getByRole('button', { name: 'Like 1' })).toBeFocused();
  });

  test('the menu of the phone opens and closes', async ({ page }) => {
    await page.setViewportSize(VIEWPORTS.phone);
    await visit(page, '/');
    await page.getByLabel('Menu').focus();
    await page.keyboard.press('Enter');
    await expect(page.getByRole('button', { name: 'Sign in (Demo)' })).toBeVisible();
    await page.keyboard.press('Enter');
    await expect(page.getByRole('button', { name: 'Sign in (Demo)' })).toBeHidden();
    await page.keyboard.press('Enter');
    await expect(page.getByRole('button', { name: 'Sign in (Demo)' })).toBeVisible();
    await page.keyboard.press('Escape');
    await expect(page.getByRole('button', { name: 'Sign in (Demo)' })).toBeHidden();
    await expect(page.getByLabel('Menu')).toBeFocused();
  });
});

test.describe('§8: what happens is announced', () => {
  test('the regions in which messages appear are there before the messages', async ({ page }) => {
    await visit(page, '/');
    const messages = page.getByRole('region', { name: 'Messages' });
    await expect(messages.getByRole('status')).toHaveAttribute('aria-live', 'polite');
    await expect(messages.getByRole('alert')).toHaveAttribute('aria-live', 'assertive');
  });

  test('a message leaves by itself, unless one points at it', async ({ page, site }) => {
    const product = await site.addProduct({ name: 'Ragdoll' });
    await page.clock.install();
    await visit(page, `/product/${product.id}`);
    await upvoteOf(page, 'Ragdoll').click();
    await expect(toast(page)).toHaveCount(1);
    await toast(page).hover();
    await page.clock.fastForward(60_000);
    await expect(toast(page)).toHaveCount(1);
    await page.mouse.move(0, 0);
    await page.clock.fastForward(6_000);
    await expect(toast(page)).toHaveCount(0);
  });
});

test.describe('§2: less motion for those who ask for it', () => {
  test('nothing drifts, breathes or springs', async ({ page, site }) => {
    await site.addProduct({ name: 'Siamese' });
    const running = () =>
      page.evaluate(() => document.getAnimations().filter(({ playState }) => playState === 'running').length);
    await visit(page, '/?q=siamese');
    expect(await running(), 'the waves drift').toBeGreaterThan(0);
    await page.emulateMedia({ reducedMotion: 'reduce' });
    await expect.poll(running).toBe(0);
    await upvoteOf(page, 'Siamese').click();
    await expect(toast(page)).toHaveCount(1);
    await expect.poll(running).toBe(0);
  });
});
