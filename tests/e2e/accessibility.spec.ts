import * as paths from '../../src/contract/paths.ts';
import { contrast } from '../../src/settings/accent.ts';
import { expectAccessible } from '../support/axe.ts';
import { expect, test, visit } from '../support/e2e-test.ts';
import { holdResponses } from '../support/network.ts';
import { turnEventLoop } from '../support/page-clock.ts';
import { cardNames, commentBox, commentTexts, PHONE, searchBox, toast, toHex, upvoteOf } from '../support/screen.ts';
import { stateContent } from '../support/screen-state.ts';

test.describe('§2: every screen is accessible', () => {
  test('the search box and the upvote button stay visible and accessible at 200% zoom in forced colours', async ({
    page,
    site,
  }) => {
    const { rich } = await stateContent(site);
    await page.emulateMedia({ forcedColors: 'active' });
    await page.setViewportSize({ width: 640, height: 450 });
    for (const path of ['/?q=zz', `/product/${rich.id}`]) {
      await visit(page, path);
      await expect(searchBox(page)).toBeVisible();
      await expect(upvoteOf(page, 'Zz rich')).toBeVisible();
      await expectAccessible(page, path);
    }
    await commentBox(page).focus();
    await expect(page.locator('.comment-form')).toHaveCSS('outline-style', 'solid');
    await upvoteOf(page, 'Zz rich').click();
    await expect(upvoteOf(page, 'Zz rich')).toHaveAttribute('aria-pressed', 'true');
    await expect(upvoteOf(page, 'Zz rich').locator('.icon-rise')).toHaveCSS('background-color', 'rgba(0, 0, 0, 0)');
  });

  test('selected text is readable in the banner and the footer in both themes', async ({ page }) => {
    await visit(page, '/');
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      for (const selector of ['.banner p', '.site-footer p']) {
        const [text = '', background = ''] = await page.locator(selector).evaluate((element) => {
          const { color, backgroundColor } = getComputedStyle(element, '::selection');
          return [color, backgroundColor];
        });
        expect(contrast(toHex(text), toHex(background)), `${selector}, ${colorScheme}`).toBeGreaterThanOrEqual(4.5);
      }
    }
  });
});

test.describe('accessibility of other states', () => {
  for (const { colorScheme, width } of [
    { colorScheme: 'light', width: 390 },
    { colorScheme: 'dark', width: 1280 },
  ] as const) {
    test(`comments with code and the open About panel have no violations at ${width} px in the ${colorScheme} theme`, async ({
      page,
      site,
    }) => {
      const { id } = await site.addProduct({ name: 'Coded' });
      await site.addComments(id, [
        { content: `A block:\n\`\`\`\nnpx groundswell ${'--a-long-flag=1 '.repeat(12)}\n\`\`\`\nand \`inline\` code.` },
      ]);
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 900 });
      await visit(page, `/product/${id}`);
      await expect(page.getByText('inline', { exact: true })).toBeVisible();
      await page.getByText('About the ranking').click();
      await expect(page.getByRole('region', { name: 'How Groundswell ranks launches' })).toBeVisible();
      await expectAccessible(page, colorScheme);
    });
  }

  test('pages without JavaScript have no violations', async ({ page, site }) => {
    const { rich } = await stateContent(site);
    const browser = await page.context().newCDPSession(page);
    for (const path of ['/?q=zz', `/product/${rich.id}`, '/?board=2026']) {
      await browser.send('Emulation.setScriptExecutionDisabled', { value: true });
      await page.goto(path);
      // axe needs scripts. Once they are enabled, the page must still show the styles and the content for visitors
      // without scripts.
      await browser.send('Emulation.setScriptExecutionDisabled', { value: false });
      await page.evaluate(() => {
        const keep = (rules: CSSRuleList) => {
          for (const rule of rules) {
            if (rule instanceof CSSMediaRule && rule.conditionText.includes('scripting')) rule.media.mediaText = 'all';
            if (rule instanceof CSSGroupingRule) keep(rule.cssRules);
          }
        };
        for (const sheet of document.styleSheets) keep(sheet.cssRules);
        for (const each of document.querySelectorAll('noscript')) each.replaceWith(...each.childNodes);
      });
      if (!path.includes('board')) await expect(page.getByText(/need JavaScript/).first()).toBeVisible();
      await expectAccessible(page, path);
    }
  });
});

test.describe('§2: the site works by keyboard alone', () => {
  const focusedName = 'the element with the focus';

  test('Tab reaches the skip link first and then every control in page order', async ({ page, site }) => {
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
      page.getByRole('link', { name: 'Leaderboards' }),
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
    await visit(page, '/?q=tabby');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await expect(page.getByRole('main')).toBeFocused();
    await page.keyboard.press('Tab');
    await expect(page.getByRole('link', { name: 'Leaderboards' })).toBeFocused();
  });

  for (const colorScheme of ['light', 'dark'] as const) {
    test(`in the ${colorScheme} theme, each focused control has a focus ring (at least 2 px, contrast 3 to 1), or its form has a shadow`, async ({
      page,
      site,
    }) => {
      const { rich } = await stateContent(site);
      await page.emulateMedia({ colorScheme });
      for (const path of ['/?q=zz+rich', `/product/${rich.id}`]) {
        await visit(page, path);
        // After a key press, browsers also show the focus ring on elements that a script focuses.
        await page.keyboard.press('Tab');
        const { rings, unshown } = await page.evaluate(() => {
          const ringOf = (element: Element, pseudo?: string) => {
            const { outlineStyle, outlineWidth, outlineColor } = getComputedStyle(element, pseudo);
            return outlineStyle !== 'none' && Number.parseFloat(outlineWidth) >= 2 ? outlineColor : undefined;
          };
          const backgroundOf = (element: Element | null): string => {
            if (element === null) return 'rgb(255, 255, 255)';
            const { backgroundColor } = getComputedStyle(element);
            return backgroundColor.startsWith('rgb(') ? backgroundColor : backgroundOf(element.parentElement);
          };
          const unshown: string[] = [];
          const rings: { html: string; ring: string; background: string }[] = [];
          for (const element of document.querySelectorAll<HTMLElement>('a, button, input, select, textarea, summary')) {
            element.focus();
            if (document.activeElement !== element || element.tabIndex < 0) continue;
            const html = element.outerHTML.slice(0, 120);
            const ring = ringOf(element) ?? ringOf(element, '::after');
            const form = element.closest('form, .search-box');
            if (ring) rings.push({ html, ring, background: backgroundOf(element.parentElement) });
            else if (form === null || getComputedStyle(form).boxShadow === 'none') unshown.push(html);
          }
          return { rings, unshown };
        });
        expect(unshown, path).toEqual([]);
        expect(rings.length).toBeGreaterThan(10);
        expect(
          rings.filter(({ ring, background }) => contrast(toHex(ring), toHex(background)) < 3),
          path,
        ).toEqual([]);
      }
    });
  }

  test('navigation moves the focus to the heading of the new page and changes the title', async ({ page, site }) => {
    await site.addProducts(2, (index) => ({ name: `Manx ${index + 1}` }));
    await visit(page, '/?q=manx');
    await page.getByRole('link', { name: 'Manx 1', exact: true }).press('Enter');
    await expect(page.getByRole('heading', { level: 1, name: 'Manx 1' })).toBeFocused();
    // Unlike click(), press() does not wait for the button to be enabled.
    const previous = page.getByRole('button', { name: 'Previous', exact: true });
    await expect(previous).toBeEnabled();
    await previous.press('Enter');
    await expect(page.getByRole('heading', { level: 1, name: 'Manx 2' })).toBeFocused();
    await expect(page).toHaveTitle('Manx 2 · Groundswell');
    // ‘Back to products’ moves the focus to the followed link instead if the deferred features have loaded.
    await page.getByRole('link', { name: 'Groundswell, home' }).press('Enter');
    await expect(page.getByRole('heading', { level: 1, name: /^Welcome/ })).toBeFocused();
  });

  for (const [moves, day] of [
    [false, '2026-01-09'],
    [true, '2026-01-10'],
  ] as const) {
    test(`the heading of a page that loads slowly gets the focus${moves ? ', unless the visitor has moved the focus' : ' from the placeholder'}`, async ({
      page,
      site,
    }) => {
      // Only lists of products, not leaderboards, have the data that the product's page shows immediately.
      const { id, name } = await site.addProduct({ name: `Korat ${moves}`, createdAt: `${day}T12:00:00.000Z` });
      await visit(page, paths.board(day));
      const held = await holdResponses(page, new RegExp(`/api/products/${id}$`));
      await page.getByRole('link', { name, exact: true }).press('Enter');
      await expect(page.getByRole('heading', { level: 1, name: 'Loading product...' })).toBeFocused();
      const back = page.getByRole('link', { name: 'Back to products' });
      if (moves) await back.focus();
      held.release();
      const heading = page.getByRole('heading', { level: 1, name });
      await expect(heading).toBeVisible();
      await turnEventLoop(page);
      await expect(moves ? back : heading).toBeFocused();
    });
  }

  test('a visitor can search, upvote, post a comment and like it', async ({ page, site }) => {
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

  test('Enter opens and closes the phone menu, and Escape closes it and keeps the focus on its button', async ({
    page,
  }) => {
    await page.setViewportSize(PHONE);
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

test.describe('§2: reduced motion', () => {
  test('stops every animation', async ({ page, site }) => {
    await site.addProduct({ name: 'Siamese' });
    const running = () =>
      page.evaluate(() => document.getAnimations().filter(({ playState }) => playState === 'running').length);
    await page.emulateMedia({ reducedMotion: 'no-preference' });
    await visit(page, '/?q=siamese');
    expect(await running(), 'the waves drift').toBeGreaterThan(0);
    await page.emulateMedia({ reducedMotion: 'reduce' });
    await expect.poll(running).toBe(0);
    await upvoteOf(page, 'Siamese').click();
    await expect(toast(page)).toHaveCount(1);
    await expect.poll(running).toBe(0);
  });
});
