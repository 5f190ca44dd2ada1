import type { Page } from '@playwright/test';
import { expect, visit } from '../support/e2e-test.ts';
import { recordRequests, requestsReported } from '../support/network.ts';
import { commentBox, commentWith, PHONE, postButton } from '../support/screen.ts';
import {
  approveWithCommand,
  dialog,
  openDialog,
  pictureFile,
  sendButton,
  submissionTest as test,
} from '../support/submission-site.ts';

const field = (page: Page, name: string) =>
  dialog(page).getByRole('textbox', { name: new RegExp(`^${name}(?: \\(optional\\))?$`) });
const picker = (page: Page, name: string) => dialog(page).getByLabel(name);

test.describe('a product submitted on a phone', () => {
  test.use({ live: true });

  test('has pictures, is approved with the command, appears for another visitor, and is commented on by its maker', async ({
    page,
    site,
    newVisitor,
    expectConsoleError,
  }) => {
    // The page requests the product before its launch.
    expectConsoleError(/404.*\/api\/products\/tidal/);
    await page.setViewportSize(PHONE);
    await page.clock.install();
    await visit(page, '/');
    await page.getByRole('link', { name: 'Submit a product' }).click();
    await field(page, 'Name').fill('Tidal');
    await field(page, 'Description').fill('Sketch an idea and share it.');
    await picker(page, 'Choose a picture').setInputFiles(await pictureFile('mark.png', '#c2410c', [600, 600]));
    await picker(page, 'Add screenshots').setInputFiles([
      await pictureFile('one.png', '#075e68'),
      await pictureFile('two.png', '#0a2f49'),
    ]);
    await expect(dialog(page).getByRole('img', { name: 'Your screenshot 2' })).toBeVisible();
    await dialog(page).getByRole('button', { name: 'Move screenshot 2 earlier' }).click();
    await expect(dialog(page).getByRole('button', { name: 'Move screenshot 1 earlier' })).toBeFocused();
    await expect(dialog(page).locator('.submission-picture-name')).toHaveText(['mark.png', 'two.png', 'one.png']);
    await field(page, 'Tags').fill('design,');
    await field(page, 'Maker').fill('Ada');
    await expect(dialog(page).locator('.product-card').getByText('Sketch an idea and share it.')).toBeVisible();
    await sendButton(page).click();

    await expect(dialog(page).getByRole('heading', { name: 'Tidal is on its way' })).toBeFocused();
    const link = await field(page, 'Your maker link').inputValue();
    expect(link).toMatch(/\/product\/tidal#maker=[\w-]{43}$/);
    await expect(dialog(page).getByRole('img', { name: 'QR code of the maker link of Tidal' })).toBeVisible();
    await dialog(page).getByRole('link', { name: 'See your launch' }).click();
    await expect(page.getByRole('heading', { level: 1, name: 'Tidal' })).toBeFocused();
    await expect(page.getByText('Waiting for review')).toBeVisible();
    await expect(page.getByRole('img', { name: /^Screenshot \d of Tidal$/ })).toHaveCount(2);

    const visitor = await newVisitor();
    await visitor.clock.install();
    const stream = visitor.waitForResponse(/\/api\/events\?/);
    await visit(visitor, '/');
    await visitor.clock.fastForward(3_500);
    expect((await stream).status()).toBe(200);
    await approveWithCommand(site, 'tidal');
    await expect(visitor.getByRole('button', { name: '1 new launch' })).toBeVisible();

    await page.clock.fastForward(16_000);
    await expect(page.getByRole('heading', { name: 'Your launch' })).toBeVisible();
    await expect(page.getByRole('heading', { level: 1, name: 'Tidal' })).toBeVisible();
    await commentBox(page).fill('I made this. Ask me anything.');
    await postButton(page).click();
    const comment = commentWith(page, 'Ask me anything');
    await expect(comment.locator('.comment-author')).toHaveText('Ada');
    await expect(comment.locator('.badge')).toHaveText('Maker');
    await visitor.goto('/product/tidal');
    await expect(commentWith(visitor, 'Ask me anything').locator('.badge')).toHaveText('Maker');
    await expect(visitor.getByRole('heading', { name: 'Your launch' })).toHaveCount(0);
  });
});

test.describe('a draft of a submission', () => {
  test('survives a reload, is shared by tabs, and is discarded by ‘Start over’', async ({ page }) => {
    await openDialog(page);
    await field(page, 'Name').fill('Driftwood');
    await field(page, 'Tags').pressSequentially('wood、sea,');
    await dialog(page).getByRole('button', { name: 'Add a person' }).click();
    await expect(field(page, 'Name of person 1')).toBeFocused();
    await page.keyboard.type('Grace');
    await dialog(page).getByLabel('At a time that I choose').check();
    const time = await dialog(page).getByLabel('Launch time').inputValue();
    await field(page, 'Tags').fill('salt');
    await page.reload();
    await expect(field(page, 'Name')).toHaveValue('Driftwood');
    const tags = dialog(page).getByRole('list', { name: 'Tags' }).getByRole('listitem');
    await expect(tags).toHaveText(['wood', 'sea', 'salt']);
    await expect(field(page, 'Name of person 1')).toHaveValue('Grace');
    await expect(dialog(page).getByLabel('Launch time')).toHaveValue(time);
    await dialog(page).getByRole('button', { name: 'Start over' }).click();
    await expect(field(page, 'Name')).toHaveValue('');
    await expect(field(page, 'Name')).toBeFocused();
    await expect(dialog(page).getByRole('listitem')).toHaveCount(0);
    await expect(dialog(page).getByLabel('As soon as it is approved')).toBeChecked();
    await page.reload();
    await expect(field(page, 'Name')).toHaveValue('');
  });
});

test.describe('the submission form', () => {
  const alert = (page: Page) => dialog(page).getByRole('alert');

  test('adds no tag when Enter confirms a conversion of an input method', async ({ page }) => {
    await openDialog(page);
    await field(page, 'Tags').fill('けん');
    // In Safari, the key that ends a composition has `keyCode` 229, but not `isComposing`.
    for (const composing of [{ isComposing: true }, { keyCode: 229 }])
      await field(page, 'Tags').evaluate((box, init) => box.dispatchEvent(new KeyboardEvent('keydown', init)), {
        key: 'Enter',
        ...composing,
        bubbles: true,
        cancelable: true,
      });
    await expect(field(page, 'Tags')).toHaveValue('けん');
    await expect(dialog(page).getByRole('listitem')).toHaveCount(0);
    await field(page, 'Tags').press('Enter');
    await expect(dialog(page).getByRole('listitem')).toHaveText(['けん']);
  });

  test('shows the launch time in the time zones of the visitor and of the site, with their names', async ({
    newVisitor,
  }) => {
    const page = await newVisitor({ timezoneId: 'America/New_York' });
    await openDialog(page);
    await dialog(page).getByLabel('At a time that I choose').check();
    await dialog(page).getByLabel('Launch time').fill('2026-12-24T20:30');
    await expect(dialog(page).getByText('Your time zone: America/New York (GMT-5).')).toBeVisible();
    await expect(dialog(page).getByText('Asia/Tokyo (GMT+9), that is 25 December 2026 at 10:30')).toBeVisible();
  });

  test('shows each error at its field before sending, and focuses the first invalid field', async ({ page }) => {
    const sent = recordRequests(page, /\/api\/submissions/, 'POST');
    await openDialog(page);
    await dialog(page).getByRole('button', { name: 'Add a person' }).click();
    await field(page, 'Role of person 1').fill('x'.repeat(301));
    await dialog(page).getByLabel('At a time that I choose').check();
    await dialog(page).getByLabel('Launch time').fill('');
    await sendButton(page).click();
    await expect(field(page, 'Name')).toBeFocused();
    await expect(field(page, 'Name')).toHaveAccessibleDescription('Give your product a name.');
    await expect(alert(page)).toHaveText('3 fields need another look.');
    await expect(dialog(page).getByText('Each team member needs a name.')).toBeVisible();
    await expect(dialog(page).getByLabel('Launch time')).toHaveAccessibleDescription(
      /Choose a launch time in the future/,
    );
    await requestsReported(page);
    expect(sent).toEqual([]);
  });

  test('removes the error of a corrected field, which keeps the focus', async ({ page }) => {
    await openDialog(page);
    await dialog(page).getByRole('button', { name: 'Add a person' }).click();
    await field(page, 'Role of person 1').fill('x'.repeat(301));
    await field(page, 'Name of person 1').fill('Ada');
    await sendButton(page).click();
    await expect(field(page, 'Name')).toBeFocused();
    await page.keyboard.type('Lagoon');
    await expect(field(page, 'Name')).toHaveAttribute('aria-invalid', 'false');
    await expect(field(page, 'Name')).toHaveAccessibleDescription('');
    await expect(alert(page)).toHaveText('One field needs another look.');
    await expect(field(page, 'Name')).toBeFocused();
    await sendButton(page).click();
    await expect(field(page, 'Role of person 1')).toBeFocused();
    await field(page, 'Role of person 1').fill('Captain');
    await expect(alert(page)).toBeEmpty();
  });

  test('shows an error from the server at the field that the error names', async ({ page, expectConsoleError }) => {
    expectConsoleError(/422/);
    await page.route('**/api/submissions', (route) =>
      route.fulfill({
        status: 422,
        contentType: 'application/problem+json',
        json: {
          code: 'submission_invalid',
          detail: 'Please correct: description, team.',
          errors: [
            { field: 'description', detail: 'This is longer than 10,000 characters.' },
            { field: 'team.0.name', detail: 'Each team member needs a name.' },
          ],
        },
      }),
    );
    await openDialog(page);
    await field(page, 'Name').fill('Flotsam');
    await sendButton(page).click();
    await expect(field(page, 'Description')).toBeFocused();
    await expect(field(page, 'Description')).toHaveAccessibleDescription(/longer than 10,000 characters/);
    await expect(dialog(page).getByText('Each team member needs a name.')).toBeVisible();
  });

  for (const [what, status, code, retryAfter, title] of [
    ['the rate limit of a visitor', 429, 'rate_limited', '120', /^Too many at once.* Try again in 2 minutes\./],
    ['a sixth waiting submission', 429, 'too_many_waiting', undefined, /^Too many at once/],
    ['an error of the site', 500, 'internal', undefined, /^Something went wrong.*Please try again\./],
    ['a response from a busy site', 503, 'overloaded', '5', /^The site is busy.*Try again in 5 seconds\./],
  ] as const) {
    test(`keeps the draft and shows a message after ${what}`, async ({ page, expectConsoleError }) => {
      expectConsoleError(new RegExp(String(status)));
      await page.route(
        '**/api/submissions',
        (route) =>
          route.fulfill({
            status,
            headers: retryAfter ? { 'Retry-After': retryAfter } : {},
            contentType: 'application/problem+json',
            json: { code, detail: 'Five submissions wait for a decision already' },
          }),
        { times: 1 },
      );
      await openDialog(page);
      await field(page, 'Name').fill(`Jetsam ${code}`);
      await sendButton(page).click();
      await expect(alert(page)).toHaveText(title);
      await expect(field(page, 'Name')).toHaveValue(`Jetsam ${code}`);
      await sendButton(page).click();
      await expect(dialog(page).getByRole('heading', { name: /is on its way/ })).toBeVisible();
    });
  }

  test('keeps the draft without a network, and can send it later', async ({ page, expectConsoleError }) => {
    expectConsoleError(/ERR_INTERNET_DISCONNECTED/);
    await openDialog(page);
    await field(page, 'Name').fill('Lagan');
    await page.context().setOffline(true);
    await sendButton(page).click();
    await expect(alert(page)).toContainText('You are offline');
    await page.context().setOffline(false);
    await sendButton(page).click();
    await expect(dialog(page).getByRole('heading', { name: 'Lagan is on its way' })).toBeVisible();
  });

  test('‘Start over’ removes the message of a failed attempt', async ({ page, expectConsoleError }) => {
    expectConsoleError(/ERR_INTERNET_DISCONNECTED/);
    await openDialog(page);
    await field(page, 'Name').fill('Ambergris');
    await page.reload();
    const startOver = dialog(page).getByRole('button', { name: 'Start over' });
    await expect(startOver).toBeVisible();
    await page.context().setOffline(true);
    await sendButton(page).click();
    await expect(alert(page)).toContainText('You are offline');
    await startOver.click();
    await expect(alert(page)).toBeEmpty();
  });
});

test.describe('with the keyboard alone', () => {
  test('a product can be submitted by keyboard alone, and Escape returns the focus to the link', async ({ page }) => {
    await visit(page, '/');
    const link = page.getByRole('link', { name: 'Submit a product' });
    await link.focus();
    await page.keyboard.press('Enter');
    await expect(dialog(page)).toBeVisible();
    await page.keyboard.press('Escape');
    await expect(dialog(page)).toHaveCount(0);
    await expect(link).toBeFocused();
    // The dialog is hidden before `history.back()` changes the URL, which would otherwise close the next dialog.
    await expect(page).toHaveURL('/');
    await openDialog(page);
    await page.keyboard.press('Escape');
    await expect(dialog(page)).toHaveCount(0);
    await expect(link, 'even if the document loaded with the dialog open').toBeFocused();
    await page.keyboard.press('Enter');
    await field(page, 'Name').focus();
    await page.keyboard.type('Kelp');
    for (const name of ['Description', 'Choose a picture', 'Add screenshots', 'Tags']) {
      await page.keyboard.press('Tab');
      await expect(dialog(page).getByLabel(name).first()).toBeFocused();
    }
    await page.keyboard.type('sea');
    await page.keyboard.press('Enter');
    await page.keyboard.type('green');
    await page.goBack();
    await expect(dialog(page)).toHaveCount(0);
    await page.goForward();
    await expect(dialog(page).getByRole('list', { name: 'Tags' }).getByRole('listitem')).toHaveText(['sea', 'green']);
    await field(page, 'Tags').focus();
    await page.keyboard.type('x');
    // Without an `up` in between, Playwright sends the second `down` as a repeat.
    for (const _press of ['first', 'repeated']) await page.keyboard.down('Backspace');
    await page.keyboard.up('Backspace');
    await expect(field(page, 'Tags')).toHaveValue('');
    await page.keyboard.press('Backspace');
    await expect(dialog(page).getByRole('list', { name: 'Tags' }).getByRole('listitem')).toHaveText(['sea']);
    await page.keyboard.press('Tab');
    await expect(field(page, 'Category')).toBeFocused();
    await page.keyboard.press('Enter');
    await expect(dialog(page).getByRole('heading', { name: 'Kelp is on its way' })).toBeFocused();
  });
});
