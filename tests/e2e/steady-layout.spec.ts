import type { BrowserContextOptions, Locator } from '@playwright/test';
import * as paths from '../../src/contract/paths.ts';
import { expect, test, visit } from '../support/e2e-test.ts';
import { recordShifts } from '../support/layout-shifts.ts';
import { holdResponses } from '../support/network.ts';
import { otherVisitor } from '../support/other-visitor.ts';
import { freezeAges } from '../support/page-clock.ts';
import { cardNames, cardOf, commentArticles, PHONE, toast, upvoteOf } from '../support/screen.ts';

const TOUCH: BrowserContextOptions = { viewport: PHONE, hasTouch: true, isMobile: true };

async function topOf(element: Locator): Promise<number | undefined> {
  return (await element.boundingBox())?.y;
}

test('on a phone, a product opened from its card stays in place when its standing arrives', async ({
  newVisitor,
  site,
}) => {
  const { id, name } = await site.addProduct({ name: 'Steady heron', description: 'Stands still.' });
  const page = await newVisitor(TOUCH);
  await visit(page, '/?q=steady+heron');
  const held = await holdResponses(page, new RegExp(`/api/.*${id}/standing`));
  await page.getByRole('link', { name, exact: true }).tap();
  const description = page.locator('.product-description');
  await expect(description).toHaveText('Stands still.');
  await expect.poll(() => held.requests.length).toBe(1);
  const before = await topOf(description);
  held.release();
  await expect(page.getByRole('region', { name: 'Launch result' })).toBeVisible();
  expect(await topOf(description)).toBe(before);
});

for (const [lang, width] of [
  ['en', 390],
  ['fr', 375],
  ['es', 412],
] as const) {
  test(`the button that posts a comment stays in place while its label changes (${lang}, ${width} px)`, async ({
    page,
    site,
  }) => {
    const { id } = await site.addProduct();
    await page.setViewportSize({ width, height: 844 });
    await visit(page, `/product/${id}?lang=${lang}`);
    const held = await holdResponses(page, /\/api\/comments$/, { method: 'POST' });
    const box = page.locator('.comment-form textarea');
    const button = page.locator('.comment-form').getByRole('button');
    const foot = page.locator('.comment-form-foot');
    await box.fill('Steady');
    const label = await button.innerText();
    const before = await foot.boundingBox();
    await button.click();
    await expect(button).not.toHaveText(label);
    expect(await foot.boundingBox()).toEqual(before);
    held.release();
    await expect(button).toHaveText(label);
    expect(await foot.boundingBox()).toEqual(before);
  });
}

for (const lang of ['de', 'es', 'fr']) {
  test(`on a narrow phone, the mark of the visitor’s own comment does not change the comment’s size (${lang})`, async ({
    page,
    site,
  }) => {
    const { id } = await site.addProduct();
    await page.setViewportSize({ width: 360, height: 800 });
    await visit(page, `/product/${id}?lang=${lang}`);
    await page.locator('.comment-form textarea').fill('Mine');
    await page.locator('.comment-form').getByRole('button').click();
    const mark = page.locator('.comment-own');
    await expect(mark).toBeVisible();
    const marked = await commentArticles(page).boundingBox();
    // Restores the layout as the server renders it, without the mark.
    await mark.evaluate((element) => element.remove());
    expect(await commentArticles(page).boundingBox()).toEqual(marked);
  });
}

test('the list stays in place while a search is refined', async ({ page, site }) => {
  const [one] = await site.addProducts(2, (index) => ({ name: `Steady tern ${index}` }));
  const { name = '' } = one ?? {};
  await visit(page, '/?q=steady+tern');
  await expect(page.getByText('2 products', { exact: true })).toBeVisible();
  const list = page.locator('.product-list');
  const before = await topOf(list);
  const held = await holdResponses(page, /\/api\/products\?.*q=/);
  await page.getByRole('searchbox').fill(name);
  await expect(list).toHaveAttribute('aria-busy', 'true');
  expect(await topOf(list)).toBe(before);
  held.release();
  await expect(page.getByText('1 product', { exact: true })).toBeVisible();
  await expect(cardOf(page, name)).toBeVisible();
  expect(await topOf(list)).toBe(before);
});

for (const [lang, options] of [
  ['en', TOUCH],
  ['de', TOUCH],
  ['en', { viewport: { width: 1280, height: 900 } }],
] as const) {
  test(`a leaderboard opened within the site stays in place when it has loaded (${lang}, ${options.viewport?.width} px)`, async ({
    newVisitor,
    site,
  }) => {
    await site.addProduct();
    const page = await newVisitor(options);
    await visit(page, `/?lang=${lang}`);
    await page.locator('a.list-boards').click();
    const tabs = page.locator('.board-bar .sort-links');
    const bar = page.locator('.board-bar');
    const loading = page.locator('.list-loading');
    await expect(page.locator('.board-clock')).toBeVisible();
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    await page.route(/\/api\/leaderboards\//, async (route) => {
      const response = await route.fetch();
      // The page reserves space for a text with a number of two digits. On some days, the week has fewer launches.
      const json = { ...(await response.json()), launches: 10 };
      await released;
      await route.fulfill({ response, json });
    });
    await tabs.getByRole('link').nth(1).click();
    await expect(loading).toBeVisible();
    const before = [await tabs.boundingBox(), await bar.boundingBox()];
    release();
    await expect(loading).toHaveCount(0);
    expect([await tabs.boundingBox(), await bar.boundingBox()]).toEqual(before);
  });
}

test('on a phone, all rows of a leaderboard have the same height, regardless of the length of their numbers', async ({
  newVisitor,
  site,
}) => {
  const hoursAgo = (hours: number) => new Date(Date.now() - hours * 3_600_000);
  const rows = [
    { votes: 9, createdAt: hoursAgo(15) },
    { votes: 12, createdAt: hoursAgo(0.1) },
  ];
  for (const { votes, createdAt } of rows) {
    const { id } = await site.addProduct({ name: `Counted ${votes}`, createdAt: createdAt.toISOString() });
    await site.addUpvotes(id, votes, new Date(createdAt.getTime() + 1_000));
  }
  const page = await newVisitor(TOUCH);
  const heightsOf = async ({ votes, createdAt }: (typeof rows)[number]) => {
    const row = page.getByRole('article').filter({ hasText: `Counted ${votes}` });
    await expect(async () => {
      await page.goto(paths.board(createdAt.toISOString().slice(0, 10)));
      await expect(row).toContainText(`${votes} votes`, { timeout: 1_000 });
    }).toPass();
    const heights: Record<number, number | undefined> = {};
    // Fonts differ between systems, so at one of these widths, only the shorter line would fit.
    for (let width = 360; width <= 450; width += 10) {
      await page.setViewportSize({ width, height: 844 });
      heights[width] = (await row.boundingBox())?.height;
    }
    return heights;
  };
  const [lower, upper] = rows;
  expect(lower && (await heightsOf(lower))).toEqual(upper && (await heightsOf(upper)));
});

test.describe('with live updates', () => {
  test.use({ live: true });

  test('on a touch screen, the rows of a leaderboard stay in place while one is pressed', async ({
    newVisitor,
    site,
  }) => {
    const createdAt = new Date().toISOString();
    const [one, other] = await site.addProducts(2, (index) => ({ name: `Pressed ${index}`, createdAt }));
    await site.addUpvotes(one?.id ?? '', 41);
    await site.addUpvotes(other?.id ?? '', 40);
    const page = await newVisitor(TOUCH);
    const names = page.locator('.board-row-name').filter({ hasText: 'Pressed' });
    await expect(async () => {
      const stream = page.waitForResponse(/\/api\/events\?/);
      await page.goto(paths.board(createdAt.slice(0, 10)));
      await stream;
      await expect(names).toHaveText(['Pressed 0', 'Pressed 1'], { timeout: 1_000 });
    }).toPass();
    // Unlike a mouse, a finger does not focus the link that it presses.
    await page.evaluate(() => document.addEventListener('mousedown', (event) => event.preventDefault()));
    await names.nth(1).hover();
    await page.mouse.down();
    for (let vote = 0; vote < 2; vote += 1) await otherVisitor(page).upvote(other?.id ?? '');
    await expect(page.getByText('The ranks update when you leave this row')).toBeVisible();
    await expect(names).toHaveText(['Pressed 0', 'Pressed 1']);
    await page.mouse.move(2, 2);
    await page.mouse.up();
    await page.mouse.move(3, 3);
    await expect(names).toHaveText(['Pressed 1', 'Pressed 0']);
  });
});

for (const reducedMotion of ['no-preference', 'reduce'] as const) {
  test(`a toast does not take a tap on an element that it has just covered (motion: ${reducedMotion})`, async ({
    page,
  }) => {
    await page.emulateMedia({ reducedMotion });
    await visit(page, '/product/git');
    await page.evaluate(() => {
      const slow = new CSSStyleSheet();
      slow.replaceSync('.toast { animation-duration: 3600s !important; }');
      document.adoptedStyleSheets = [slow];
    });
    await upvoteOf(page, 'Git').click();
    await expect(toast(page)).toBeVisible();
    const takesTaps = () =>
      toast(page).evaluate((element) => {
        const { left, top, width, height } = element.getBoundingClientRect();
        return element.contains(document.elementFromPoint(left + width / 2, top + height / 2));
      });
    expect(await takesTaps()).toBe(false);
    await toast(page).evaluate((element) => {
      for (const animation of element.getAnimations()) animation.finish();
    });
    expect(await takesTaps()).toBe(true);
  });
}

test.describe('§2: pages do not shift while they load', () => {
  for (const [device, width] of Object.entries({ phone: 390, desktop: 1280 })) {
    for (const path of ['/', '/product/git', '/product/unknown']) {
      test(`pictures and fonts that load late do not shift the layout (${device}, ${path})`, async ({
        page,
        expectConsoleError,
      }) => {
        if (path.endsWith('unknown')) expectConsoleError(/404/);
        await page.setViewportSize({ width, height: 900 });
        await freezeAges(page);
        const shifts = await recordShifts(page);
        let release = () => {};
        const painted = new Promise<void>((resolve) => {
          release = resolve;
        });
        let late = 0;
        await page.route(/\/pictures\/|\.woff2$/, async (route) => {
          late += 1;
          await painted;
          await route.continue();
        });
        await page.goto(path, { waitUntil: 'domcontentloaded' });
        await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
        if (path === '/') await expect(cardNames(page).first()).toBeVisible();
        await shifts();
        expect(late, 'at least the font was delayed').toBeGreaterThan(0);
        release();
        await page.waitForLoadState('load');
        await page.evaluate(() => document.fonts.ready);
        expect(await page.evaluate(() => document.fonts.check('700 24px "Funnel Display"'))).toBe(true);
        expect(await shifts()).toEqual([]);

        await page.evaluate(() => {
          const block = document.createElement('div');
          block.style.height = '200px';
          document.body.prepend(block);
        });
        await expect.poll(shifts, 'the observer detects a shift').not.toEqual([]);
      });
    }
  }
});
