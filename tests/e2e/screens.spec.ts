import { expectAccessible } from '../support/axe.ts';
import { expect, test, visit } from '../support/e2e-test.ts';
import { elementsBeyondScreen, PHONE, SCREEN_VARIANTS, selectVariants, setTextSize } from '../support/screen.ts';
import { stateContent } from '../support/screen-state.ts';
import { SCREEN_STATES } from '../support/states.ts';
import { submissionTest } from '../support/submission-site.ts';
import { SUBMISSION_STATES } from '../support/submission-states.ts';

const WHAT = 'meets WCAG 2.2 AA and fits 320 px, and a phone at 200% text size';

for (const [where, run, states] of [
  ['§2: every state', test, SCREEN_STATES],
  ['every state of submissions', submissionTest, SUBMISSION_STATES],
] as const) {
  run.describe(`${where} ${WHAT}`, () => {
    run.use({ live: true });

    for (const [turn, { name, open, consoleErrors = [] }] of states.entries()) {
      run(name, async ({ page, site, expectConsoleError }) => {
        for (const pattern of consoleErrors) expectConsoleError(pattern);
        const looks = selectVariants(SCREEN_VARIANTS, turn);
        await page.setViewportSize(PHONE);
        // Sets the first theme before loading, because changing it afterwards takes as long as loading the page.
        await page.emulateMedia({ colorScheme: looks[0]?.colorScheme ?? 'light' });
        await open(page, await stateContent(site));
        await expect(page.getByRole('heading', { level: 1, includeHidden: true })).toHaveCount(1);
        for (const { size, colorScheme } of looks) {
          await page.setViewportSize(size);
          await page.emulateMedia({ colorScheme });
          await expectAccessible(page, `${name}, ${size.width} px, ${colorScheme}`);
        }
        await page.setViewportSize({ width: 320, height: 640 });
        expect(await elementsBeyondScreen(page)).toEqual([]);
        await page.setViewportSize(PHONE);
        await setTextSize(page, 200);
        expect(await elementsBeyondScreen(page)).toEqual([]);
      });
    }
  });
}

test('the accessibility check and the width check report a missing name, text with low contrast and an element that is too wide', async ({
  page,
}) => {
  await visit(page, '/');
  const violations = {
    'button-name': '<button></button>',
    'color-contrast': '<p class="faint">Faint</p>',
  };
  for (const [rule, html] of Object.entries(violations)) {
    await page.locator('main').evaluate((main, markup) => {
      const sheet = new CSSStyleSheet();
      sheet.replaceSync('.faint { color: #777; background: #888; } .wide { width: 400vw; }');
      document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
      main.innerHTML = `<h1>Faulty</h1>${markup}`;
    }, html);
    await expect(expectAccessible(page, rule)).rejects.toThrow(rule);
  }
  expect(await elementsBeyondScreen(page)).toEqual([]);
  await page.locator('main').evaluate((main) => main.insertAdjacentHTML('beforeend', '<div class="wide">Wide</div>'));
  expect(await elementsBeyondScreen(page)).not.toEqual([]);
});
