import { expectAccessible } from '../support/axe.ts';
import { expect, test, visit } from '../support/e2e-test.ts';
import { DESKTOP, elementsBeyondScreen, PHONE } from '../support/screen.ts';
import { addStateProducts } from '../support/screen-state.ts';
import { SCREEN_STATES } from '../support/states.ts';
import { submissionTest } from '../support/submission-site.ts';
import { SUBMISSION_STATES } from '../support/submission-states.ts';

const WHAT = 'meets WCAG 2.2 AA in both themes, on a phone and a desktop, and fits 320 px';

for (const [where, run, states] of [
  ['§2: every state', test, SCREEN_STATES],
  ['every state of submissions', submissionTest, SUBMISSION_STATES],
] as const) {
  run.describe(`${where} ${WHAT}`, () => {
    run.use({ live: true });

    for (const { name, open, consoleErrors = [] } of states) {
      run(name, async ({ page, site, expectConsoleError }) => {
        for (const pattern of consoleErrors) expectConsoleError(pattern);
        await page.setViewportSize(PHONE);
        await page.clock.install();
        await open(page, await addStateProducts(site));
        await expect(page.getByRole('heading', { level: 1, includeHidden: true })).toHaveCount(1);
        await page.emulateMedia({ colorScheme: 'light' });
        await expectAccessible(page, `${name}, phone, light`);
        // Themes change colours alone and widths the layout alone, so two of the four combinations cover both.
        await page.setViewportSize(DESKTOP);
        await page.emulateMedia({ colorScheme: 'dark' });
        await expectAccessible(page, `${name}, desktop, dark`);
        await page.setViewportSize({ width: 320, height: 640 });
        expect(await elementsBeyondScreen(page)).toEqual([]);
      });
    }
  });
}

test('the two checks above report a missing name, a faint text and a wide element', async ({ page }) => {
  await visit(page, '/');
  const faults = {
    'button-name': '<button></button>',
    'color-contrast': '<p class="faint">Faint</p>',
  };
  for (const [rule, html] of Object.entries(faults)) {
    await page.locator('main').evaluate((main, fault) => {
      const sheet = new CSSStyleSheet();
      sheet.replaceSync('.faint { color: #777; background: #888; } .wide { width: 400vw; }');
      document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
      main.innerHTML = `<h1>Faulty</h1>${fault}`;
    }, html);
    await expect(expectAccessible(page, rule)).rejects.toThrow(rule);
  }
  expect(await elementsBeyondScreen(page)).toEqual([]);
  await page.locator('main').evaluate((main) => main.insertAdjacentHTML('beforeend', '<div class="wide">Wide</div>'));
  expect(await elementsBeyondScreen(page)).not.toEqual([]);
});
