import { expect, type Page } from '@playwright/test';

/** Resolves after all fonts and all visible pictures have loaded. */
export async function waitForAssets(page: Page): Promise<void> {
  await page.evaluate(() => document.fonts.ready);
  await expect
    .poll(() =>
      page.evaluate(() =>
        [...document.images]
          .filter((image) => {
            const { top, bottom } = image.getBoundingClientRect();
            return bottom > 0 && top < window.innerHeight && !(image.complete && image.naturalWidth > 0);
          })
          .map(({ src }) => src),
      ),
    )
    .toEqual([]);
}
