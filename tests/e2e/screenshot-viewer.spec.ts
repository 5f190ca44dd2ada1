import { expect, test, visit } from '../support/e2e-test.ts';
import { clippedRing, PHONE } from '../support/screen.ts';

test.describe('§2: the screenshot viewer', () => {
  test('shows a screenshot in full size, steps with the arrow keys, closes with Escape and restores the focus', async ({
    page,
    site,
  }) => {
    const product = await site.addProduct({
      name: 'Albatross',
      screenshots: ['/pictures/git/tile.svg', '/pictures/vim/tile.svg', '/pictures/rust/tile.svg'],
    });
    await visit(page, `/product/${product.id}`);
    const second = page.getByRole('link', { name: 'Screenshot 2 of Albatross' });
    await second.click();
    const viewer = page.getByRole('dialog', { name: 'Screenshots' });
    // A closed dialog is removed only after the page handles its close event.
    const gone = page.locator('dialog.viewer');
    await expect(viewer.getByText('2 / 3')).toBeVisible();
    await expect(viewer.getByRole('img')).toHaveAttribute('src', '/pictures/vim/tile.svg');
    await page.keyboard.press('ArrowRight');
    await expect(viewer.getByText('3 / 3')).toBeVisible();
    await page.keyboard.press('ArrowRight');
    await expect(viewer.getByText('3 / 3'), 'the viewer stops at the last screenshot').toBeVisible();
    await expect(viewer.getByRole('button', { name: 'Next screenshot' })).toHaveAttribute('aria-disabled', 'true');
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('ArrowLeft');
    await expect(viewer.getByText('1 / 3')).toBeVisible();
    await expect(viewer.getByRole('img', { name: 'Screenshot 1 of Albatross' })).toBeVisible();
    await expect(page, 'the arrow keys do not leave the product').toHaveURL(`/product/${product.id}`);
    await page.keyboard.press('Escape');
    await expect(gone).toHaveCount(0);
    await expect(second).toBeFocused();

    await second.press('Enter');
    await viewer.getByRole('button', { name: 'Next screenshot' }).click();
    await expect(viewer.getByText('3 / 3')).toBeVisible();
    for (let presses = 0; presses < 5; presses += 1) {
      await page.keyboard.press('Tab');
      const inside = await page.evaluate(
        () => document.activeElement?.closest('dialog') !== null || !document.hasFocus(),
      );
      expect(inside || (await page.evaluate(() => document.activeElement === document.body))).toBe(true);
    }
    await viewer.getByRole('button', { name: 'Close' }).click();
    await expect(gone).toHaveCount(0);
    await expect(second).toBeFocused();
  });

  test('steps on a swipe in either direction and closes on a click next to the picture', async ({ page, site }) => {
    const product = await site.addProduct({
      name: 'Frigatebird',
      screenshots: ['/pictures/git/tile.svg', '/pictures/vim/tile.svg'],
    });
    await visit(page, `/product/${product.id}`);
    await page.getByRole('link', { name: 'Screenshot 1 of Frigatebird' }).click();
    const viewer = page.getByRole('dialog', { name: 'Screenshots' });
    const stage = await viewer.locator('.viewer-stage').boundingBox();
    const [x, y] = [(stage?.x ?? 0) + (stage?.width ?? 0) / 2, (stage?.y ?? 0) + (stage?.height ?? 0) / 2];
    await page.mouse.move(x, y);
    await page.mouse.down();
    await page.mouse.move(x - 120, y);
    await page.mouse.up();
    await expect(viewer.getByText('2 / 2')).toBeVisible();
    await page.mouse.move(x - 120, y);
    await page.mouse.down();
    await page.mouse.move(x, y);
    await page.mouse.up();
    await expect(viewer.getByText('1 / 2')).toBeVisible();
    await viewer.locator('.viewer-counter').hover();
    await page.mouse.down();
    await page.mouse.move(2, y);
    await page.mouse.up();
    await expect(viewer, 'a press inside and a release outside').toBeVisible();
    await page.mouse.click(2, y);
    await expect(page.locator('dialog.viewer')).toHaveCount(0);
  });

  test('moves a zoomed-in picture on a drag, instead of stepping', async ({ newVisitor, site }) => {
    const page = await newVisitor({ hasTouch: true, isMobile: true });
    const product = await site.addProduct({
      name: 'Shearwater',
      screenshots: ['/pictures/git/tile.svg', '/pictures/vim/tile.svg'],
    });
    await visit(page, `/product/${product.id}`);
    await page.getByRole('link', { name: 'Screenshot 1 of Shearwater' }).click();
    const viewer = page.getByRole('dialog', { name: 'Screenshots' });
    const stage = viewer.locator('.viewer-stage');
    await expect(viewer.getByText('1 / 2')).toBeVisible();
    const session = await page.context().newCDPSession(page);
    const zoomTo = (pageScaleFactor: number) => session.send('Emulation.setPageScaleFactor', { pageScaleFactor });
    await zoomTo(2);
    await expect(stage).toHaveAttribute('data-zoomed');
    const box = await stage.boundingBox();
    const [x, y] = [(box?.x ?? 0) + 400, (box?.y ?? 0) + 200];
    const drag = async () => {
      await page.mouse.move(x, y);
      await page.mouse.down();
      await page.mouse.move(x - 200, y);
      await page.mouse.up();
    };
    const touch = (type: 'touchStart' | 'touchMove' | 'touchEnd', touchPoints: { x: number; y: number }[]) =>
      session.send('Input.dispatchTouchEvent', { type, touchPoints });
    const dragByTouch = async () => {
      await touch('touchStart', [{ x, y }]);
      for (const moved of [50, 100, 150, 200]) await touch('touchMove', [{ x: x - moved, y }]);
      await touch('touchEnd', []);
      return page.evaluate(() => window.visualViewport?.offsetLeft);
    };
    await drag();
    await expect.poll(dragByTouch).toBeGreaterThan(0);
    await expect(viewer.getByText('1 / 2')).toBeVisible();
    await zoomTo(1);
    await expect(stage).not.toHaveAttribute('data-zoomed');
    await dragByTouch();
    await expect(viewer.getByText('2 / 2')).toBeVisible();
  });

  test('shows a placeholder for a picture that fails to load, like its link', async ({
    page,
    site,
    expectConsoleError,
  }) => {
    expectConsoleError(/404 \(Not Found\).*\/pictures\/missing\.svg/);
    const product = await site.addProduct({ name: 'Petrel', screenshots: ['/pictures/missing.svg'] });
    await visit(page, `/product/${product.id}`);
    const link = page.getByRole('link', { name: 'Screenshot 1 of Petrel' });
    await link.scrollIntoViewIfNeeded();
    await expect(link.getByRole('img', { name: 'Screenshot 1 of Petrel' })).toContainClass('picture-placeholder');
    await link.click();
    const placeholder = page.getByRole('dialog').getByRole('img', { name: 'Screenshot 1 of Petrel' });
    await expect(placeholder).toContainClass('picture-placeholder');
    expect((await placeholder.boundingBox())?.width).toBeGreaterThan(100);
  });

  test('on a phone, the row of screenshots shows the whole focus ring', async ({ page, site }) => {
    await page.setViewportSize(PHONE);
    const screenshots = ['/pictures/git/tile.svg', '/pictures/vim/tile.svg'];
    const { id } = await site.addProduct({ name: 'Dunnock', screenshots });
    await visit(page, `/product/${id}`);
    expect(await clippedRing(page.getByRole('link', { name: 'Screenshot 1 of Dunnock' }))).toBe(0);
  });

  test('shows the whole picture in a low window', async ({ page, site }) => {
    const product = await site.addProduct({ name: 'Gromwell', screenshots: ['/pictures/git/tile.svg'] });
    await page.setViewportSize({ width: 900, height: 320 });
    await visit(page, `/product/${product.id}`);
    await page.getByRole('link', { name: 'Screenshot 1 of Gromwell' }).click();
    const viewer = page.getByRole('dialog', { name: 'Screenshots' });
    const picture = viewer.getByRole('img');
    const naturalHeight = () => picture.evaluate((image: HTMLImageElement) => image.naturalHeight);
    await expect.poll(naturalHeight).toBeGreaterThan(0);
    const boxOf = async (part: string) => (await viewer.locator(part).boundingBox()) ?? { y: 0, height: 0 };
    const [stage, image] = [await boxOf('.viewer-stage'), await boxOf('.viewer-stage img')];
    expect(stage.height).toBeLessThan(await naturalHeight());
    expect(image.y).toBeGreaterThanOrEqual(stage.y);
    expect(image.y + image.height).toBeLessThanOrEqual(stage.y + stage.height);
  });
});
