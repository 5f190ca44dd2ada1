import type { Page } from '@playwright/test';
import { expect, test, visit } from '../support/e2e-test.ts';

/** Records the named elements that each later view transition animates. @returns a function that reads them. */
async function recordMoves(page: Page): Promise<() => Promise<string[][]>> {
  await page.addInitScript(() => {
    const moves: string[][] = [];
    Object.assign(window, { moves });
    const start = document.startViewTransition.bind(document);
    document.startViewTransition = (update) => {
      const transition = start(update);
      void transition.ready.then(() => {
        const names = document
          .getAnimations()
          .map(
            ({ effect }) =>
              /^::view-transition-group\((.*)\)$/.exec((effect as KeyframeEffect).pseudoElement ?? '')?.[1],
          );
        const known = names.filter((name) => name !== undefined);
        moves.push(known.filter((name) => name !== 'root').sort());
      });
      return transition;
    };
  });
  return () => page.evaluate(() => (window as unknown as { moves: string[][] }).moves);
}

function running(page: Page): Promise<number> {
  return page.evaluate(() => document.getAnimations().filter(({ playState }) => playState === 'running').length);
}

// The other files run with reduced motion, which saves CPU time.
test.use({ contextOptions: { reducedMotion: 'no-preference' } });

test.describe('§2: view transitions', () => {
  for (const reducedMotion of ['no-preference', 'reduce'] as const) {
    const isReduced = reducedMotion === 'reduce';
    test(`${isReduced ? 'with reduced motion, navigation between a card and its page is not animated' : 'the picture and the name move between a card and its page'}`, async ({
      page,
      site,
    }) => {
      const { id, name } = await site.addProduct({ name: isReduced ? 'Resting whale' : 'Migrating whale' });
      const expected = isReduced ? [] : [`name-${id}`, `picture-${id}`];
      await page.emulateMedia({ reducedMotion });
      const moves = await recordMoves(page);
      await visit(page, `/?q=${isReduced ? 'resting' : 'migrating'}`);
      await page.getByRole('link', { name, exact: true }).click();
      await expect(page.getByRole('heading', { level: 1, name })).toBeFocused();
      await expect.poll(moves).toEqual([expected]);
      await page.getByRole('link', { name: 'Back to products' }).click();
      await expect(page.getByRole('link', { name, exact: true })).toBeVisible();
      await expect.poll(moves).toEqual([expected, expected]);
    });
  }

  test('a card can be clicked while its transition runs', async ({ page, site }) => {
    const { id, name } = await site.addProduct({ name: 'Diving whale', description: 'Breathes in, and goes down.' });
    const moves = await recordMoves(page);
    await visit(page, '/?q=diving');
    await page.getByRole('link', { name, exact: true }).click();
    await expect.poll(moves).toHaveLength(1);
    await expect.poll(() => running(page)).toBe(0);
    await page.evaluate(() => {
      const slow = new CSSStyleSheet();
      slow.replaceSync('::view-transition-group(*) { animation-duration: 3600s !important; }');
      document.adoptedStyleSheets = [slow];
    });
    await page.getByRole('link', { name: 'Back to products' }).click();
    await expect.poll(moves).toHaveLength(2);
    const text = await page.getByRole('article').getByText('Breathes in, and goes down.').boundingBox();
    await page.mouse.click((text?.x ?? 0) + 20, (text?.y ?? 0) + 10);
    await expect(page).toHaveURL(`/product/${id}`);
  });
});
