import { expect, type Page } from '@playwright/test';
import * as paths from '../../src/contract/paths.ts';
import { holdResponses } from './network.ts';
import { LONG_WORD, type ScreenState, type StateContent } from './screen-state.ts';
import {
  dayAhead,
  decide,
  dialog,
  openDialog,
  pictureFile,
  type Submitted,
  sendButton,
  submit,
} from './submission-site.ts';

/** The expected console error: until the launch, requests for the product's standing get 404. */
const UNLAUNCHED = [/404/];

async function fillIn(page: Page, name: string): Promise<void> {
  await dialog(page).getByLabel('Name', { exact: true }).fill(name);
  await dialog(page).getByLabel('Description').fill('What it does, in a sentence.');
}

/** Creates a submission, prepares its state, and opens its maker link. */
async function submitAndOpen(
  page: Page,
  { site }: StateContent,
  fields: Parameters<typeof submit>[1],
  prepare: (made: Submitted) => Promise<unknown> = async () => {},
): Promise<void> {
  const made = await submit(site, fields);
  await prepare(made);
  await page.goto(made.link);
}

const SCHEDULED_FOR = `${dayAhead(120)}T10:00:00.000Z`;

/** The screens of visitors and makers on a site that accepts submissions. */
export const SUBMISSION_STATES: ScreenState[] = [
  { name: 'home, with the link to the submission dialog', open: (page) => page.goto('/').then(() => {}) },
  { name: 'the dialog, empty', open: openDialog },
  {
    name: 'the dialog, filled in, with pictures and a restored draft',
    async open(page) {
      await openDialog(page);
      await fillIn(page, LONG_WORD);
      await page.reload();
      await expect(dialog(page).getByText(/^Your draft is as you left it/)).toBeVisible();
      await dialog(page)
        .getByLabel('Choose a picture')
        .setInputFiles(await pictureFile('mark.png', '#c2410c'));
      await dialog(page)
        .getByLabel('Add screenshots')
        .setInputFiles([await pictureFile(`${LONG_WORD}.png`, '#075e68'), await pictureFile('two.png', '#0a2f49')]);
      await dialog(page)
        .getByRole('textbox', { name: 'Tags' })
        .fill(`${LONG_WORD.slice(0, 60)},sea,`);
      await dialog(page).getByRole('button', { name: 'Add a person' }).click();
      await dialog(page).getByLabel('At a time that I choose').check();
      await expect(dialog(page).getByRole('img', { name: 'Your screenshot 2' })).toBeVisible();
    },
  },
  {
    name: 'the dialog with errors',
    async open(page) {
      await openDialog(page);
      await dialog(page)
        .getByLabel('Add screenshots')
        .setInputFiles({ name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('no picture') });
      await dialog(page).getByRole('button', { name: 'Add a person' }).click();
      await dialog(page).getByLabel('Role of person 1').fill('Captain');
      await sendButton(page).click();
      await expect(dialog(page).getByRole('alert')).toContainText('3 fields need another look.');
    },
  },
  {
    name: 'the dialog, after too many submissions',
    consoleErrors: [/429/],
    async open(page) {
      await page.route('**/api/submissions', (route) =>
        route.fulfill({ status: 429, json: { code: 'too_many_waiting', detail: 'Five wait already' } }),
      );
      await openDialog(page);
      await fillIn(page, 'Zz refused');
      await sendButton(page).click();
      await expect(dialog(page).getByRole('alert')).toContainText('Too many at once');
    },
  },
  {
    name: 'the dialog, sending pictures',
    async open(page) {
      await openDialog(page);
      await fillIn(page, 'Zz sending');
      await dialog(page)
        .getByLabel('Choose a picture')
        .setInputFiles(await pictureFile('mark.png', '#c2410c'));
      await expect(dialog(page).getByRole('img', { name: 'Your picture' })).toBeVisible();
      await holdResponses(page, /\/image$/, { method: 'PUT' });
      await sendButton(page).click();
      await expect(dialog(page).getByRole('progressbar', { name: 'Pictures sent' })).toBeVisible();
    },
  },
  {
    name: 'submitted, with the maker link',
    async open(page) {
      await openDialog(page);
      await fillIn(page, `Zz ${LONG_WORD}`);
      await dialog(page).getByLabel('At a time that I choose').check();
      await sendButton(page).click();
      await expect(dialog(page).getByRole('img', { name: /^QR code/ })).toBeVisible();
    },
  },
  {
    name: 'a launch that waits for review',
    consoleErrors: UNLAUNCHED,
    async open(page, content) {
      await submitAndOpen(page, content, {
        name: `Zz ${LONG_WORD}`,
        team: [{ name: 'Ada', role: 'Maker' }],
        tags: ['sea'],
      });
      await expect(page.getByText('Waiting for review')).toBeVisible();
    },
  },
  {
    name: 'a scheduled launch, in the edit dialog',
    consoleErrors: UNLAUNCHED,
    async open(page, content) {
      const fields = { name: 'Zz scheduled', launchAt: SCHEDULED_FOR };
      await submitAndOpen(page, content, fields, ({ id }) => decide(content.site, 'approve', id));
      await page.getByRole('button', { name: 'Edit' }).click();
      await expect(dialog(page).getByText(/^Your launch is approved/)).toBeVisible();
    },
  },
  {
    name: 'a scheduled launch, in the dialog to reschedule it',
    consoleErrors: UNLAUNCHED,
    async open(page, content) {
      const fields = { name: 'Zz moved', launchAt: SCHEDULED_FOR };
      await submitAndOpen(page, content, fields, ({ id }) => decide(content.site, 'approve', id));
      await page.getByRole('button', { name: 'Reschedule' }).click();
      await expect(dialog(page).getByLabel('Launch time')).toBeVisible();
    },
  },
  {
    name: 'a launch, in the dialog to withdraw it',
    consoleErrors: UNLAUNCHED,
    async open(page, content) {
      await submitAndOpen(page, content, { name: 'Zz withdrawn' });
      await page.getByRole('button', { name: 'Withdraw' }).click();
      await expect(dialog(page)).toBeVisible();
    },
  },
  {
    name: 'a declined launch',
    consoleErrors: UNLAUNCHED,
    async open(page, content) {
      const reason = `It says too little.\n${LONG_WORD}`;
      await submitAndOpen(page, content, { name: 'Zz declined' }, ({ id }) =>
        decide(content.site, 'decline', id, '--reason', reason),
      );
      await expect(page.getByRole('blockquote')).toBeVisible();
    },
  },
  {
    name: 'a launch under way, as its maker sees it',
    async open(page, content) {
      await submitAndOpen(page, content, { name: 'Zz launched' }, async ({ id }) => {
        await decide(content.site, 'approve', id);
        await content.site.addUpvotes(id, 3);
        // The launch time is the database's current time, and the site's clock may be slightly behind it.
        for (const path of [paths.api.product(id), paths.api.standings(id)]) {
          await expect.poll(async () => (await page.request.get(path)).status()).toBe(200);
        }
      });
      await expect(page.getByRole('region', { name: 'Your launch' })).toBeVisible();
    },
  },
  {
    name: 'a maker link that does not work',
    consoleErrors: UNLAUNCHED,
    async open(page) {
      await page.goto(`/product/zz-nowhere#maker=${'x'.repeat(43)}`);
      await expect(page.getByText('This maker link no longer works.')).toBeVisible();
    },
  },
];
