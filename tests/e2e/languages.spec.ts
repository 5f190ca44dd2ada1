import type { Page } from '@playwright/test';
import { expectAccessible } from '../support/axe.ts';
import { expect, test, visit } from '../support/e2e-test.ts';
import { elementsBeyondScreen, selectVariants } from '../support/screen.ts';

/** Some texts of the tested languages. Their wording must match the message catalogues. */
const LANGUAGES = [
  {
    lang: 'de',
    tag: 'de',
    dir: '',
    list: 'Die Top-Launches von heute',
    comments: ['0 Kommentare', '1 Kommentar', '3 Kommentare'],
    post: 'Kommentieren',
    placeholder: 'Was hältst du von diesem Produkt?',
    upvoted: 'Abgestimmt!',
    commented: 'Kommentar hinzugefügt!',
    search: 'Produkte suchen',
    found: '1 Produkt',
    undescribed: 'Keine Beschreibung vorhanden',
    author: 'Du',
    byAuthor: 'Kommentar: Du',
  },
  {
    lang: 'ja',
    tag: 'ja',
    dir: '',
    list: '今日公開の注目製品',
    comments: ['0件のコメント', '1件のコメント', '3件のコメント'],
    post: 'コメントを投稿',
    placeholder: 'この製品をどう思いますか？',
    upvoted: '投票しました！',
    commented: 'コメントを追加しました！',
    search: '製品を検索',
    found: '1件',
    undescribed: '説明はありません',
    author: 'あなた',
    byAuthor: 'あなたのコメント',
  },
  {
    lang: 'ar',
    tag: 'ar',
    dir: 'rtl',
    list: 'أبرز إطلاقات اليوم',
    comments: ['0 تعليق', '1 تعليق', '3 تعليقات'],
    post: 'نشر التعليق',
    placeholder: 'ما رأيك في هذا المنتج؟',
    upvoted: 'تم التصويت!',
    commented: 'أُضيف التعليق!',
    search: 'البحث عن منتجات',
    found: 'منتج واحد',
    undescribed: 'لا يوجد وصف',
    author: 'أنت',
    byAuthor: 'تعليق: أنت',
  },
] as const;

const root = (page: Page) => page.locator('html');
/** Locates toasts by class, because the name of their region is translated. */
const toastTitles = (page: Page) => page.locator('.toaster .toast-title');
const commentLink = (page: Page) => page.locator('.product-hero-actions a').first();

for (const [turn, language] of LANGUAGES.entries()) {
  const { lang } = language;

  test(`${lang}: links, search, Back and a reload preserve the language, default texts are translated, and navigation loads no documents`, async ({
    page,
    site,
  }) => {
    const { id } = await site.addProduct({ name: `Argonaut ${lang}`, description: '' });
    await visit(page, `/?lang=${lang}`);
    await expect(root(page)).toHaveAttribute('lang', language.tag);
    expect((await root(page).getAttribute('dir')) ?? '').toBe(language.dir);
    await expect(page.getByRole('heading', { name: language.list })).toBeVisible();
    await page.evaluate(() => Object.assign(window, { sameDocument: true }));
    await page.getByRole('searchbox', { name: language.search }).fill(`argonaut ${lang}`);
    await expect(page).toHaveURL(new RegExp(`q=.*&lang=${lang}$`));
    await expect(page.locator('.list-found')).toHaveText(language.found);
    await expect(page.locator('.product-card-description')).toHaveText(language.undescribed);
    await page.getByRole('link', { name: `Argonaut ${lang}`, exact: true }).click();
    await expect(page).toHaveURL(`/product/${id}?lang=${lang}`);
    await expect(page.getByPlaceholder(language.placeholder)).toBeVisible();
    expect(await page.evaluate(() => 'sameDocument' in window)).toBe(true);
    await page.goBack();
    await expect(page.locator('.list-found')).toHaveText(language.found);
    await page.reload();
    await expect(page.locator('.list-found')).toHaveText(language.found);
    await expect(root(page)).toHaveAttribute('lang', language.tag);
  });

  test(`${lang}: upvoting and commenting work, and counts use the plural forms of the language`, async ({
    page,
    site,
  }) => {
    const { id, name } = await site.addProduct({ name: `Ammonite ${lang}` });
    await visit(page, `/product/${id}?lang=${lang}`);
    await expect(commentLink(page)).toHaveText(language.comments[0]);
    await page.locator(`.upvote[data-product="${id}"]`).click();
    await expect(toastTitles(page)).toHaveText(language.upvoted);
    await page.getByPlaceholder(language.placeholder).fill('First');
    await page.getByRole('button', { name: language.post }).click();
    await expect(toastTitles(page).last()).toHaveText(language.commented);
    await expect(page.locator('.comment-author')).toHaveText(language.author);
    await expect(page.getByRole('article', { name: language.byAuthor, exact: true })).toBeVisible();
    const start = language.dir === 'rtl' ? 'margin-right' : 'margin-left';
    await expect(page.locator('.comment-actions'), 'the buttons are aligned with the text').toHaveCSS(start, '-12px');
    await expect(commentLink(page)).toHaveText(language.comments[1]);
    await site.addComments(id, [{ content: 'Second' }, { content: 'Third' }]);
    await visit(page, `/product/${id}?lang=${lang}`);
    await expect(commentLink(page)).toHaveText(language.comments[2]);
    await expect(page.getByRole('heading', { level: 1, name })).toBeVisible();
  });

  test(`${lang}: pages fit the width of a phone and have no accessibility violations`, async ({ page, site }) => {
    const { id } = await site.addProduct({ name: `Trilobite ${lang}`, tags: ['fossils', 'shells'] });
    const widths = [320, 390];
    for (const [index, path] of [`/?lang=${lang}`, `/product/${id}?lang=${lang}`].entries()) {
      await visit(page, path);
      for (const width of widths) {
        await page.setViewportSize({ width, height: 844 });
        expect(await elementsBeyondScreen(page), `${path}, ${width} px`).toEqual([]);
      }
      for (const width of selectVariants(widths, turn + index)) {
        await page.setViewportSize({ width, height: 844 });
        await expectAccessible(page, `${path}, ${width} px`);
      }
    }
  });
}

test('on phones, the sun is below the text of the banner in every language', async ({ page }) => {
  await visit(page, '/');
  const languages = page.getByRole('navigation', { name: 'Language' }).getByRole('link');
  const paths = await languages.evaluateAll((links) => links.map((link) => link.getAttribute('href') ?? ''));
  expect(paths.length).toBeGreaterThan(1);
  for (const path of paths) {
    await page.goto(path);
    for (const width of [320, 360, 390, 412, 430, 600]) {
      await page.setViewportSize({ width, height: 844 });
      const gap = await page.locator('.banner').evaluate((banner) => {
        const text = document.createRange();
        text.selectNodeContents(banner.querySelector('p') as Element);
        const bottoms = [...text.getClientRects()].map(({ bottom }) => bottom);
        return (banner.querySelector('.waves-disc')?.getBoundingClientRect().top ?? 0) - Math.max(...bottoms);
      });
      expect(gap, `${path}, ${width} px`).toBeGreaterThan(0);
    }
  }
});

test('the footer links to the current page and fragment in another language', async ({ page, site }) => {
  const { id } = await site.addProduct({ name: 'Belemnite' });
  await visit(page, '/');
  await page.getByRole('searchbox').fill('belemnite');
  await page.getByRole('link', { name: 'Belemnite', exact: true }).click();
  await commentLink(page).click();
  await expect(page).toHaveURL(`/product/${id}#comments`);
  const languages = page.getByRole('navigation', { name: 'Language' });
  await expect(languages.locator('[aria-current]')).toHaveText('English');
  await languages.getByRole('link', { name: 'Français' }).click();
  await expect(page).toHaveURL(`/product/${id}?lang=fr#comments`);
  await expect(root(page)).toHaveAttribute('lang', 'fr');
  await page.getByRole('navigation', { name: 'Langue' }).getByRole('link', { name: 'English' }).click();
  await expect(root(page)).toHaveAttribute('lang', 'en');
});

test('the arrow keys follow the reading direction, and so does the list of shortcuts', async ({ page, site }) => {
  const [older, newer] = await site.addProducts(2, (index) => ({ name: `Crinoid ${index + 1}` }));
  await visit(page, `/product/${newer?.id}?lang=ar`);
  await page.keyboard.press('ArrowLeft');
  await expect(page).toHaveURL(`/product/${older?.id}?lang=ar`);
  await page.keyboard.press('?');
  const keys = page.getByRole('dialog').locator('kbd [aria-hidden]');
  await expect(page.locator('.modal-head .icon-button')).toHaveCSS('margin-left', '-8px');
  await expect(keys).toHaveText(['/', '→', '←', '?', 'Esc', '→', '←', 'Ctrl', 'Enter']);
});

test('if the messages of a language do not load, the page works in English', async ({ page, expectConsoleError }) => {
  expectConsoleError(/ERR_FAILED/);
  await page.route(/\/assets\/language-ar-/, (route) => route.abort());
  await visit(page, '/?lang=ar');
  await expect(page.getByRole('heading', { name: 'Top Products Launching Today' })).toBeVisible();
  await expect(root(page)).toHaveAttribute('lang', 'en');
  await expect(root(page)).toHaveCSS('direction', 'ltr');
  await page.getByRole('button', { name: 'Dark theme' }).click();
  await expect(root(page)).toHaveAttribute('data-theme', 'dark');
  await expect(page.locator('.brand')).toHaveAttribute('href', '/?lang=ar');
});

test.describe('plain links and forms', () => {
  test.use({ javaScriptEnabled: false });

  test('without JavaScript, a search preserves the language, and choosing a language preserves the search', async ({
    page,
  }) => {
    await page.goto('/?lang=de');
    await page.getByRole('searchbox').fill('git');
    await page.getByRole('searchbox').press('Enter');
    await expect(page).toHaveURL('/?q=git&lang=de');
    await expect(root(page)).toHaveAttribute('lang', 'de');
    await page.getByRole('navigation', { name: 'Sprache' }).getByRole('link', { name: '日本語' }).click();
    await expect(page).toHaveURL('/?q=git&lang=ja');
    await expect(root(page)).toHaveAttribute('lang', 'ja');
  });
});
