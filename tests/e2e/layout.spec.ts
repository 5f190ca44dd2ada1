import type { Locator, Page } from '@playwright/test';
import { expect, test, visit } from '../support/e2e-test.ts';
import { commentBox, elementsBeyondScreen, linesOfLongText, searchBox, WIDTHS } from '../support/screen.ts';
import { stateContent } from '../support/screen-state.ts';

const boxOf = async (element: Locator) => (await element.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };

test.describe('§2: the layout of every screen', () => {
  test('text without break opportunities does not make the page wider than a desktop screen', async ({
    page,
    site,
  }) => {
    const { long } = await stateContent(site);
    await page.setViewportSize({ width: WIDTHS.desktop, height: 900 });
    for (const path of [`/?q=${long.name.slice(0, 30)}`, `/product/${long.id}`]) {
      await visit(page, path);
      await expect(page.getByText(long.name, { exact: true })).toBeVisible();
      expect(await elementsBeyondScreen(page), path).toEqual([]);
    }
  });

  for (const [device, width] of Object.entries(WIDTHS)) {
    test(`on a ${device}, the search box is visible, the Demo buttons are in the header or its menu, and the page fits the width`, async ({
      page,
      site,
    }) => {
      const { rich } = await stateContent(site);
      await page.setViewportSize({ width, height: 900 });
      for (const path of ['/', `/product/${rich.id}`]) {
        await visit(page, path);
        await expect(searchBox(page)).toBeInViewport();
        const signIn = page.getByRole('button', { name: 'Sign in (Demo)' });
        if (device === 'desktop') {
          await expect(signIn).toBeVisible();
          await expect(page.getByLabel('Menu')).toBeHidden();
        } else {
          await expect(signIn).toBeHidden();
          await page.getByLabel('Menu').click();
          await expect(signIn).toBeVisible();
          await expect(page.getByRole('button', { name: 'Launches (Demo)' })).toBeDisabled();
        }
        expect(await elementsBeyondScreen(page)).toEqual([]);
      }
    });
  }

  test('from 1024 px, the sidebar is next to the list and half as wide; on narrower screens, it is below the list', async ({
    page,
  }) => {
    await visit(page, '/?q=git');
    const layout = async () => {
      const list = await boxOf(page.locator('.home-list'));
      const sidebar = await boxOf(page.getByRole('complementary', { name: 'Product Landscapes' }));
      const isBelow = sidebar.y >= list.y + list.height;
      return { columns: isBelow ? 1 : 2, ratio: (list.width / sidebar.width).toFixed(2) };
    };
    for (const width of [390, 1023, 1024, 1280]) {
      await page.setViewportSize({ width, height: 900 });
      const expected = width < 1024 ? { columns: 1, ratio: '1.00' } : { columns: 2, ratio: '2.00' };
      await expect.poll(layout, `${width} px`).toEqual(expected);
    }
  });

  test('the content is at most 1200 px wide, and the pictures of cards are 64 px wide on a phone and 72 px on wider screens', async ({
    page,
  }) => {
    await visit(page, '/?q=git');
    const sizes = async () => {
      const { width: content } = await boxOf(page.locator('.home-columns'));
      const { width, height } = await boxOf(page.locator('.product-card-picture').first());
      return { content, picture: [width, height] };
    };
    for (const [width, content, side] of [
      [390, 358, 64],
      [1280, 1200, 72],
      [1920, 1200, 72],
    ] as const) {
      await page.setViewportSize({ width, height: 900 });
      await expect.poll(sizes, `${width} px`).toEqual({ content, picture: [side, side] });
    }
  });

  test('on a touch screen, buttons are at least 44 px high and tags at least 24 px', async ({ newVisitor, site }) => {
    const { rich } = await stateContent(site);
    const page = await newVisitor({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
    for (const path of ['/?q=zz+rich', `/product/${rich.id}`]) {
      await visit(page, path);
      const targets = page.locator('main :is(button:enabled, select, a.button, a.tag)');
      expect(await targets.count()).toBeGreaterThan(5);
      const small = await targets.evaluateAll((elements) =>
        elements
          .map((element) => ({
            height: element.getBoundingClientRect().height,
            html: element.outerHTML.slice(0, 90),
          }))
          .filter(({ height, html }) => height > 0 && height < (html.startsWith('<a class="tag"') ? 24 : 43.5)),
      );
      expect(small, path).toEqual([]);
    }
  });
});

test.describe('§2: themes', () => {
  const background = (page: Page) => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);

  test('the theme follows the system until the visitor chooses one, which all tabs adopt and remember', async ({
    page,
  }) => {
    await page.emulateMedia({ colorScheme: 'light' });
    await visit(page, '/');
    const toggle = page.getByRole('button', { name: 'Dark theme' });
    const light = await background(page);
    await page.emulateMedia({ colorScheme: 'dark' });
    await expect.poll(() => background(page)).not.toBe(light);
    const dark = await background(page);
    await expect(toggle).toHaveAttribute('aria-pressed', 'true');
    await page.emulateMedia({ colorScheme: 'light' });
    await expect.poll(() => background(page)).toBe(light);
    await expect(toggle).toHaveAttribute('aria-pressed', 'false');
    const otherTab = await page.context().newPage();
    await otherTab.emulateMedia({ colorScheme: 'light' });
    await visit(otherTab, '/product/git');
    const otherToggle = otherTab.getByRole('button', { name: 'Dark theme' });
    // If this tab also stored the theme that it adopts, it might overwrite a later choice.
    await otherTab.evaluate(() => {
      Storage.prototype.setItem = (key) => document.body.append(` Stored: ${key}`);
    });
    // Chooses three times, because the other tab may read the first choice while it is still loading.
    for (const isDark of ['true', 'false', 'true']) {
      await toggle.click();
      await expect(toggle).toHaveAttribute('aria-pressed', isDark);
      await expect(otherToggle).toHaveAttribute('aria-pressed', isDark);
    }
    await expect.poll(() => background(page)).toBe(dark);
    await expect.poll(() => background(otherTab)).toBe(dark);
    await expect(otherTab.getByText('Stored: theme')).toHaveCount(0);
    await otherTab.close();
    await page.reload();
    await expect.poll(() => background(page)).toBe(dark);
    await expect(toggle).toHaveAttribute('aria-pressed', 'true');
    await page.goto('/product/git');
    await expect.poll(() => background(page)).toBe(dark);
    // Waits for hydration, which sets the attribute.
    await expect(toggle).toHaveAttribute('aria-pressed', 'true');
    await toggle.click();
    await expect.poll(() => background(page)).toBe(light);
    await page.reload();
    await expect.poll(() => background(page)).toBe(light);
  });

  test('a remembered theme applies even if the main script cannot be loaded', async ({ page, expectConsoleError }) => {
    expectConsoleError(/ERR_FAILED.*\/assets\//);
    await page.emulateMedia({ colorScheme: 'light' });
    await visit(page, '/');
    await page.getByRole('button', { name: 'Dark theme' }).click();
    await page.route(/\/assets\/(?!theme).*\.js$/, (route) => route.abort());
    const refused = page.waitForEvent('console', (message) => message.text().includes('ERR_FAILED'));
    await page.goto('/');
    await refused;
    await expect(page.locator('html')).toHaveAttribute('data-theme', 'dark');
  });
});

test('text in a right-to-left script runs from right to left on cards, on product pages and in the comment form', async ({
  page,
  site,
}) => {
  const product = await site.addProduct({ name: 'منارة', description: 'أداة لرسم الخرائط البحرية', maker: 'ميناء' });
  await site.addComments(product.id, [{ content: 'مفيد جدا', authorName: 'ليلى' }]);
  const directionOf = (text: string) =>
    page.getByText(text, { exact: true }).evaluate((element) => getComputedStyle(element).direction);
  await visit(page, `/?q=${encodeURIComponent('منارة')}`);
  expect(await directionOf('منارة')).toBe('rtl');
  expect(await directionOf('أداة لرسم الخرائط البحرية')).toBe('rtl');
  await visit(page, `/product/${product.id}`);
  for (const text of ['منارة', 'أداة لرسم الخرائط البحرية', 'مفيد جدا', 'ليلى']) {
    expect(await directionOf(text), text).toBe('rtl');
  }
  await commentBox(page).fill('شكرا');
  expect(await commentBox(page).evaluate((box) => getComputedStyle(box).direction)).toBe('rtl');
});

test('at 320 px, a card does not truncate the maker’s name, and on a leaderboard, the votes are over twice as wide as the name, which takes at most two lines', async ({
  page,
  site,
}) => {
  await site.addProduct({ name: 'Narrow', maker: 'Jupyter Project' });
  await page.setViewportSize({ width: 320, height: 800 });
  await visit(page, '/?q=narrow');
  const maker = page.locator('.product-card-origin bdi', { hasText: 'Jupyter Project' });
  const [content, visible] = await maker.evaluate(({ scrollWidth, clientWidth }) => [scrollWidth, clientWidth]);
  expect(visible).toBeGreaterThan(0);
  expect(content).toBe(visible);
  await page.goto('/?board=2026');
  const row = page.locator('.board-row').first();
  const widthOf = async (selector: string) => (await row.locator(selector).boundingBox())?.width ?? 0;
  expect(await widthOf('.board-row-votes')).toBeGreaterThan(2 * (await widthOf('.board-row-name')));
  expect(await linesOfLongText(row.getByRole('link'))).toBe(2);
});

test('long ranks take one line next to the picture, and up to rank 999, the pictures stay aligned', async ({
  page,
  site,
}) => {
  await site.addProducts(4, (index) => ({ name: `Ranked ${index}` }));
  for (const [path, width, rows] of [
    ['/?q=ranked', WIDTHS.desktop, '.product-card'],
    ['/?q=ranked', WIDTHS.tablet, '.product-card'],
    ['/?board=2026', WIDTHS.desktop, '.board-row'],
    ['/?board=2026', WIDTHS.phone, '.board-row'],
  ] as const) {
    await page.setViewportSize({ width, height: 900 });
    await visit(page, path);
    const shown = await page.locator(rows).evaluateAll((elements) =>
      // On a leaderboard, the first three ranks look different.
      elements.slice(-4).map((element, index) => {
        const parts = [...(element.querySelector('[class$="-rank"]')?.childNodes ?? [])];
        const rank = parts.find((node) => node instanceof Text) ?? element;
        rank.textContent = ['99', '100', '999', '1,000'][index] ?? '';
        const range = document.createRange();
        range.selectNodeContents(rank);
        const [text, row] = [range.getBoundingClientRect(), element.getBoundingClientRect()];
        const picture = element.querySelector('[class$="-picture"]')?.getBoundingClientRect().left ?? 0;
        return {
          lines: range.getClientRects().length,
          isClear: text.left > row.left + 4 && text.right < picture - 4,
          picture,
        };
      }),
    );
    const place = `${path}, ${width} px`;
    expect(shown, place).toHaveLength(4);
    for (const { lines, isClear } of shown) expect([lines, isClear], place).toEqual([1, true]);
    expect(new Set(shown.slice(0, 3).map(({ picture }) => picture)).size, place).toBe(1);
  }
});
