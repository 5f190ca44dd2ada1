import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import type { Locator, Page, Request } from '@playwright/test';
import { CONSOLE_API } from '../../src/contract/console/paths.ts';
import { IMPORT_TIMEOUT_MS, type ImportEvent, type ImportSummary } from '../../src/contract/console/records.ts';
import { editProduct } from '../../src/core/products/edit-product.ts';
import { openConsole, signIn, signInAndOpen, stopLiveUpdates } from '../support/console-page.ts';
import type { E2eSite } from '../support/e2e-site.ts';
import { expect, test } from '../support/e2e-test.ts';
import { turnEventLoop } from '../support/page-clock.ts';
import { brokenWords, failureToast, PHONE, toast } from '../support/screen.ts';

const SUMMARY: ImportSummary = {
  ...{ auditId: null, created: 1, updated: 0, unchanged: 0, firstCreated: [], firstUpdated: [] },
  ...{ duplicates: 0, repeatedIds: 0, firstRepeated: [], localPictures: 0, ignoredColumns: [] },
};

/** Holds the responses to imports and dry runs until `release` is called. */
async function holdImports(page: Page, result: ImportEvent = { kind: 'done', summary: SUMMARY }) {
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const matches = (request: Request) => request.url().includes(CONSOLE_API.import);
  const sent = page.waitForRequest(matches);
  const ended = new Promise<void>((resolve) => {
    for (const event of ['requestfinished', 'requestfailed'] as const)
      page.on(event as 'requestfinished', (request) => matches(request) && resolve());
  });
  await page.route(`${CONSOLE_API.import}?*`, async (route) => {
    await released;
    // `fulfill` rejects if the page has aborted the request.
    await route.fulfill({ body: `${JSON.stringify(result)}\n` }).catch(() => {});
  });
  return { release, sent, ended };
}

/** Chooses a file with one product. @returns the product's id. */
async function chooseFile(page: Page): Promise<string> {
  const id = `i-${randomUUID()}`;
  const file = { name: `${id}.csv`, mimeType: 'text/csv', buffer: Buffer.from(`id,name\n${id},${id}\n`) };
  await page.getByLabel('Drop a file here, or choose one').setInputFiles(file);
  return id;
}

/** Opens the import screen and chooses a file with one product. @returns the product's id. */
async function openImport(page: Page, site: E2eSite): Promise<string> {
  await signInAndOpen(page, site, '/console/import');
  return chooseFile(page);
}

/** Chooses a file with this content, and starts a dry run. */
async function startDryRun(page: Page, content: string, name = 'launches.csv'): Promise<void> {
  const file = { name, mimeType: name.endsWith('csv') ? 'text/csv' : 'application/json', buffer: Buffer.from(content) };
  await page.getByLabel('Drop a file here, or choose one').setInputFiles(file);
  await page.getByRole('button', { name: 'Dry run' }).click();
}

const importButton = (page: Page) => page.getByRole('button', { name: 'Import 1 product' });

for (const [what, change] of [
  ['a column', async (page: Page) => void (await page.getByLabel('Description').selectOption('name'))],
  [
    'the file',
    async (page: Page) => {
      await page.getByRole('button', { name: 'Another file' }).click();
      await chooseFile(page);
    },
  ],
] as const) {
  test(`a dry run that ends after ${what} was changed does not offer the import`, async ({ page, site }) => {
    await openImport(page, site);
    const { release, sent, ended } = await holdImports(page);
    await page.getByRole('button', { name: 'Dry run' }).click();
    await sent;
    await change(page);
    release();
    await ended;
    await turnEventLoop(page);
    await expect(page.getByRole('heading', { name: 'The first rows' })).toBeVisible();
    await expect(importButton(page)).toBeHidden();
    await page.getByRole('button', { name: 'Dry run' }).click();
    await expect(importButton(page)).toBeVisible();
  });
}

test('a file that is read slowly does not replace a file that was chosen after it', async ({ page, site }) => {
  await signInAndOpen(page, site, '/console/import');
  await page.evaluate(() => {
    const { text } = Blob.prototype;
    Blob.prototype.text = async function () {
      Blob.prototype.text = text;
      await new Promise((resolve) => window.addEventListener('read-due', resolve, { once: true }));
      return text.call(this);
    };
  });
  await chooseFile(page);
  const columns = page.getByRole('heading', { name: `Columns of ${await chooseFile(page)}.csv` });
  await expect(columns).toBeVisible();
  await page.evaluate(() => window.dispatchEvent(new Event('read-due')));
  await turnEventLoop(page);
  await expect(columns).toBeVisible();
});

test('choosing a file focuses the columns, and ‘Another file’ the file chooser', async ({ page, site }) => {
  await signInAndOpen(page, site, '/console/import');
  const chooser = page.getByLabel('Drop a file here, or choose one');
  await chooser.focus();
  await chooseFile(page);
  await expect(page.getByRole('heading', { name: /^Columns of/ })).toBeFocused();
  await page.getByRole('button', { name: 'Another file' }).press('Enter');
  await expect(chooser).toBeFocused();
});

test('a file that cannot be read can be chosen again after it has been corrected', async ({ page, site }) => {
  await signInAndOpen(page, site, '/console/import');
  const chooser = page.getByLabel('Drop a file here, or choose one');
  await chooser.setInputFiles({ name: 'broken.json', mimeType: 'application/json', buffer: Buffer.from('[{') });
  await expect(page.getByText('This file cannot be read')).toBeVisible();
  // A browser reports a choice only if it differs from the previous one.
  await expect(chooser).toHaveJSProperty('files.length', 0);
});

test('an import that ends after the operator has left the screen does not change the screen', async ({
  page,
  site,
}) => {
  await openImport(page, site);
  await page.getByRole('button', { name: 'Dry run' }).click();
  await expect(importButton(page)).toBeVisible();
  const { release, sent } = await holdImports(page);
  await importButton(page).click();
  await sent;
  await page.getByRole('link', { name: 'Comments' }).click();
  release();
  await expect(page.getByText(/^Imported i-/)).toBeVisible();
  await turnEventLoop(page);
  await expect(page).toHaveURL('/console/comments');
  await expect(page.getByRole('heading', { level: 1, name: 'Comments' })).toBeVisible();
});

test('an import that fails after the operator has left the screen says why', async ({ page, site }) => {
  await openImport(page, site);
  await page.getByRole('button', { name: 'Dry run' }).click();
  await expect(importButton(page)).toBeVisible();
  const { release, sent } = await holdImports(page, { kind: 'failed', message: 'The file is broken.' });
  await importButton(page).click();
  await sent;
  await page.getByRole('link', { name: 'Comments' }).click();
  release();
  await expect(failureToast(page)).toContainText('The file is broken.');
});

test('the upload of an import may take as long as the server allows', async ({ page, site }) => {
  await signIn(page, site);
  await page.clock.install();
  await openConsole(page, '/console/import');
  await chooseFile(page);
  const { release, sent } = await holdImports(page);
  await page.getByRole('button', { name: 'Dry run' }).click();
  await sent;
  await page.clock.fastForward(IMPORT_TIMEOUT_MS - 60_000);
  release();
  await expect(importButton(page)).toBeVisible();
});

test('undoing an import says how many products it skipped', async ({ page, site }) => {
  const id = `i-${randomUUID()}`;
  await signInAndOpen(page, site, '/console/import');
  await startDryRun(page, `id,name\n${id},${id}\n${id}-2,${id}-2\n`, `${id}.csv`);
  await page.getByRole('button', { name: 'Import 2 products' }).click();
  await expect(page.getByText(/^Imported i-/)).toBeVisible();
  await editProduct(site.database, id, { values: { maker: 'Edited' } }, { now: new Date() });
  await page.keyboard.press('u');
  const partly = toast(page).filter({ hasText: 'Partly undone' });
  await expect(partly).toContainText('Skipped 1 product (changed or final since the import).');
});

test('the focus stays on the button during a dry run, and moves to the heading of the dry run if the import fails', async ({
  page,
  site,
}) => {
  await openImport(page, site);
  const { release, sent } = await holdImports(page);
  const dryRun = page.getByRole('button', { name: 'Dry run' });
  await dryRun.press('Enter');
  await sent;
  await expect(dryRun).toBeDisabled();
  await expect(dryRun).toBeFocused();
  release();
  await expect(importButton(page)).toBeVisible();
  await expect(dryRun).toBeFocused();
  await page.route(`${CONSOLE_API.import}?*`, (route) =>
    route.fulfill({ body: `${JSON.stringify({ kind: 'failed', message: 'The file is broken.' })}\n` }),
  );
  await importButton(page).press('Enter');
  await expect(page.getByText('The file is broken.')).toBeVisible();
  await expect(page.getByRole('heading', { name: 'Dry run' })).toBeFocused();
});

test('a dry run after the session has ended leads to the sign-in screen', async ({
  page,
  site,
  expectConsoleError,
}) => {
  await stopLiveUpdates(page);
  await openImport(page, site);
  await page.context().clearCookies();
  expectConsoleError(/401 \(Unauthorized\)/);
  await page.getByRole('button', { name: 'Dry run' }).click();
  await expect(page.getByRole('heading', { name: 'Sign in to the console' })).toBeVisible();
});

test('a dry run lists the rows that a later row replaces, and counts pictures that are not imported', async ({
  page,
  site,
}) => {
  await signInAndOpen(page, site, '/console/import');
  const id = `i-${randomUUID()}`;
  await startDryRun(page, `id,name,image\n${id},Replaced,\n${id},Last,tide.png\n`);
  await expect(page.getByText('Ignored rows, because a later row has the same id: 1.')).toBeVisible();
  await expect(page.getByText('Pictures given as file names are not imported: 1.')).toBeVisible();
  const changes = page.getByRole('region', { name: 'Changes' });
  await expect(changes.getByRole('row', { name: `2 ${id}` })).toContainText('Ignored: a later row has the same id');
  await expect(changes.getByRole('row', { name: '3 Last' })).toContainText('New');
});

test('a dry run shows errors in fields that have no column', async ({ page, site }) => {
  await signInAndOpen(page, site, '/console/import');
  const lines = Array.from({ length: 51 }, (_, index) => JSON.stringify({ id: `i-${index}`, name: 'Tide' }));
  // The form lists only the fields of the first 50 lines of a JSON Lines file.
  lines.push('{"id":"last","name":"Ebb","image":"javascript:alert(1)"}');
  await startDryRun(page, lines.join('\n'), 'launches.jsonl');
  await expect(page.getByRole('rowheader', { name: '52' })).toHaveText(/^52image: .+ is not an http or https URL/);
});

test('on a small phone, the error in a narrow column has no broken words', async ({ page, site }) => {
  await page.setViewportSize({ width: 320, height: 640 });
  await signInAndOpen(page, site, '/console/import');
  await startDryRun(page, 'id,name,description,tags\nbad id!,Tide,The tides of every harbour for a year,sea\n');
  const error = page.getByRole('cell').locator('.field-error');
  await expect(error).toContainText('bad id!');
  expect(await brokenWords(error)).toEqual([]);
});

test('on a phone, the error in the last of several columns is on the screen', async ({ page, site }) => {
  await page.setViewportSize(PHONE);
  await signInAndOpen(page, site, '/console/import');
  const columns = 'name,description,tags,category,maker,createdAt';
  await startDryRun(page, `${columns}\nTide tables,The tides of every harbour,sea,Weather,Moon,soon\n`);
  // Scrolls to the row, but not to the cell within the row.
  await page.getByRole('rowheader', { name: '2' }).scrollIntoViewIfNeeded();
  await expect(page.getByText("'soon' is not a supported date")).toBeInViewport({ ratio: 1 });
});

test('a file that was edited after it was chosen must be chosen again', async ({ page, site }, info) => {
  await signInAndOpen(page, site, '/console/import');
  const path = info.outputPath('launches.csv');
  await writeFile(path, 'id,name\nbefore,Before\n');
  await page.getByLabel('Drop a file here, or choose one').setInputFiles(path);
  await expect(page.getByRole('cell', { name: 'Before', exact: true })).toBeVisible();
  await writeFile(path, 'id,name\nafter,After the edit\n');
  await page.getByRole('button', { name: 'Dry run' }).click();
  await expect(page.getByText('The file has changed since it was chosen. Choose it again.')).toBeVisible();
});

test('a file that has grown since it was chosen must be chosen again, even if the browser can read it', async ({
  page,
  site,
}) => {
  await openImport(page, site);
  // Firefox reads the changed file, but with the size that it had when it was chosen.
  await page.evaluate(() => {
    File.prototype.arrayBuffer = () => new Blob(['x'.repeat(1_000)]).arrayBuffer();
  });
  await page.getByRole('button', { name: 'Dry run' }).click();
  await expect(page.getByText('The file has changed since it was chosen. Choose it again.')).toBeVisible();
});

test('the browser does not open files that are dropped outside the drop zone or onto a dialog', async ({
  page,
  site,
}) => {
  const { id } = await site.addProduct();
  await signIn(page, site);
  /** Drops a file onto an element. @returns whether the page handled the events, so the browser does nothing. */
  const drop = (target: Locator) =>
    target.evaluate((element) => {
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File(['id'], 'products.csv'));
      return ['dragover', 'drop'].every(
        (type) => !element.dispatchEvent(new DragEvent(type, { bubbles: true, cancelable: true, dataTransfer })),
      );
    });
  await openConsole(page, '/console/import');
  expect(await drop(page.getByRole('heading', { level: 1 }))).toBe(true);
  await openConsole(page, `/console/products?edit=${id}`);
  expect(await drop(page.getByLabel('Description'))).toBe(true);
});
