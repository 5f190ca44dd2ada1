import { randomUUID } from 'node:crypto';
import type { Request } from '@playwright/test';
import { CONSOLE_API } from '../../src/contract/console/paths.ts';
import { editProduct } from '../../src/core/products/edit-product.ts';
import { expectAccessible } from '../support/axe.ts';
import { holdRequests, signInAndOpen } from '../support/console-page.ts';
import { expect, test } from '../support/e2e-test.ts';
import { recordRequests, requestsReported } from '../support/network.ts';
import { pictureFile } from '../support/submission-site.ts';

test('an operator uploads pictures in the editor, and the site shows them once they are saved', async ({
  page,
  site,
  expectConsoleError,
}) => {
  const { id, image } = await site.addProduct({ name: 'Painted tide', screenshots: [] });
  await signInAndOpen(page, site, `/console/products?edit=${id}`);
  const editor = page.getByRole('dialog', { name: 'Edit Painted tide' });
  const productOf = async () => (await (await page.request.get(`/api/products/${id}`)).json()).product;

  expectConsoleError(/415/);
  const notPicture = { name: 'tide.png', mimeType: 'image/png', buffer: Buffer.from('<html></html>') };
  await editor.getByLabel('Upload a picture').setInputFiles(notPicture);
  await expect(editor.getByText('tide.png: The file is not a picture of a supported type.')).toBeVisible();
  const uploads = recordRequests(page, /\/api\/console\/pictures\//, 'POST');
  await editor
    .getByLabel('Upload a picture')
    .setInputFiles({ name: 'photo.jpeg', mimeType: 'image/jpeg', buffer: Buffer.alloc(5 * 1024 * 1024 + 1) });
  await expect(editor.getByText('photo.jpeg: The file is larger than 5 MiB.')).toBeVisible();
  await requestsReported(page);
  expect(uploads).toEqual([]);
  await editor.getByLabel('Upload a picture').setInputFiles(await pictureFile('tide.png', '#075e68'));
  await expect(editor.getByRole('textbox', { name: 'Image' })).toHaveValue(/^\/images\/[0-9a-f]{40}\.webp$/);
  await expect(editor.getByText('tide.png:')).toHaveCount(0);
  await expect(editor.locator('.preview-picture')).toHaveAttribute('src', /^\/images\//);
  await editor
    .getByLabel('Upload screenshots')
    .setInputFiles([await pictureFile('one.png', '#c2410c'), await pictureFile('two.png', '#0a2f49')]);
  await expect(editor.getByRole('textbox', { name: 'Screenshots' })).toHaveValue(/^\/images\/\S+\n\/images\/\S+$/);
  expect((await productOf()).image).toBe(image);

  await editor.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByText('Saved Painted tide')).toBeVisible();
  await expect.poll(async () => (await productOf()).screenshots.length).toBe(2);
  const saved = await productOf();
  await page.goto(`/product/${id}`);
  const shown = page.locator(`img[src="${saved.image}"]`).first();
  await expect(shown).toHaveJSProperty('naturalWidth', 512);
});

test('an operator can add team members with an uploaded picture, and remove them', async ({ page, site }) => {
  const { id } = await site.addProduct({
    name: 'Crewed tide',
    team: [
      { name: 'Ada', role: 'Maker', avatar: '' },
      { name: 'Bo', role: '', avatar: '/pictures/git/tile.svg' },
    ],
  });
  await signInAndOpen(page, site, `/console/products?edit=${id}`);
  const editor = page.getByRole('dialog', { name: 'Edit Crewed tide' });
  await editor.getByRole('button', { name: 'Add a member' }).click();
  const added = editor.getByRole('textbox', { name: 'Name of team member 3' });
  await expect(added).toBeFocused();
  await added.fill('Cy');
  await editor.getByLabel('Upload the picture of team member 3').setInputFiles(await pictureFile('cy.png', '#c2410c'));
  await expect(editor.getByRole('textbox', { name: 'Picture of team member 3' })).toHaveValue(/^\/images\//);
  await expectAccessible(page, 'a team in the editor');
  await editor.getByRole('button', { name: 'Remove team member 1' }).click();
  await expect(editor.getByRole('button', { name: 'Add a member' })).toBeFocused();
  await editor.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByText('Saved Crewed tide')).toBeVisible();
  const teamOf = async () => (await (await page.request.get(`/api/products/${id}`)).json()).product.team;
  await expect.poll(teamOf).toEqual([
    { name: 'Bo', role: '', avatar: '/pictures/git/tile.svg' },
    { name: 'Cy', role: '', avatar: expect.stringMatching(/^\/images\/[0-9a-f]{40}\.webp$/) },
  ]);
});

test('an edit can be saved only after its pictures have been uploaded', async ({ page, site }) => {
  const { id } = await site.addProduct({ name: 'Patient tide' });
  await signInAndOpen(page, site, `/console/products?edit=${id}`);
  const editor = page.getByRole('dialog', { name: 'Edit Patient tide' });
  const finish = await holdRequests(page, CONSOLE_API.pictures('image'));
  await editor.getByLabel('Upload a picture').setInputFiles(await pictureFile('tide.png', '#075e68'));
  await editor.getByRole('textbox', { name: 'Maker' }).fill('Somebody else');
  const save = editor.getByRole('button', { name: 'Save' });
  await expect(editor.getByText('1 field changed')).toBeVisible();
  await expect(save).toHaveAttribute('aria-disabled', 'true');
  finish();
  await expect(editor.getByText('2 fields changed')).toBeVisible();
  await save.click();
  await expect(page.getByText('Saved Patient tide')).toBeVisible();
  const { product } = await (await page.request.get(`/api/products/${id}`)).json();
  expect(product).toMatchObject({ maker: 'Somebody else', image: expect.stringMatching(/^\/images\//) });
});

test('members are not removed, and conflicts not resolved, while a picture of a member is being uploaded', async ({
  page,
  site,
  expectConsoleError,
}) => {
  const avatar = '/pictures/git/tile.svg';
  const team = ['Ada', 'Bo', 'Cy'].map((name) => ({ name, role: '', avatar }));
  const { id } = await site.addProduct({ name: 'Steady tide', team });
  await signInAndOpen(page, site, `/console/products?edit=${id}`);
  const editor = page.getByRole('dialog');
  const member = (at: number) => editor.getByRole('textbox', { name: `Name of team member ${at}` });
  const remove = editor.getByRole('button', { name: 'Remove team member 1' });
  const keep = page.getByRole('button', { name: 'Keep my changes on top' });
  const upload = (at: number) => editor.getByLabel(`Upload the picture of team member ${at}`);
  const finish = await holdRequests(page, CONSOLE_API.pictures('image'));
  await upload(2).setInputFiles(await pictureFile('bo.png', '#075e68'));
  await expect(editor.getByText('Uploading …')).toBeVisible();
  await remove.click({ force: true });
  await expect(member(3)).toHaveValue('Cy');
  // The editor has no changes yet. Without the upload, it would load the other team immediately.
  const others = [...team].reverse();
  await editProduct(site.database, id, { values: { name: 'Ebb tide', team: others } }, { now: new Date() });
  await expect(page.getByRole('heading', { name: 'Ebb tide' })).toBeVisible();
  await expect(member(1)).toHaveValue('Ada');
  await editor.getByRole('textbox', { name: 'Maker' }).fill('Somebody else');
  await expect(keep).toHaveAttribute('aria-disabled', 'true');
  finish();
  await keep.click();
  await expect(keep).toHaveCount(0);

  expectConsoleError(/415/);
  await upload(3).setInputFiles({ name: 'cy.png', mimeType: 'image/png', buffer: Buffer.from('<html></html>') });
  const error = editor.getByText('cy.png: The file is not a picture of a supported type.');
  await expect(error).toBeVisible();
  await remove.click();
  await expect(error).toHaveCount(0);
  await editor.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByText('Saved Ebb tide')).toBeVisible();
  const { product } = await (await page.request.get(`/api/products/${id}`)).json();
  expect(product.team).toMatchObject([
    { name: 'Bo', avatar: expect.stringMatching(/^\/images\//) },
    { name: 'Cy', avatar },
  ]);
});

test('closing the editor cancels its uploads, and another product can be saved immediately', async ({ page, site }) => {
  const tags = [randomUUID()];
  for (const name of ['Slow tide', 'Quick tide']) await site.addProduct({ name, tags });
  await signInAndOpen(page, site, `/console/products?tag=${tags[0]}`);
  await holdRequests(page, CONSOLE_API.pictures('screenshot'));
  await page.getByRole('button', { name: 'Slow tide', exact: true }).click();
  const isUpload = (request: Request) => request.url().endsWith(CONSOLE_API.pictures('screenshot'));
  const cancelled = page.waitForEvent('requestfailed', isUpload);
  await page
    .getByLabel('Upload screenshots')
    .setInputFiles([await pictureFile('one.png', '#c2410c'), await pictureFile('two.png', '#0a2f49')]);
  await expect(page.getByText('Uploading …')).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(page.locator('dialog')).toHaveCount(0);
  await page.getByRole('button', { name: 'Quick tide', exact: true }).click();
  await page.getByLabel('Maker').fill('Somebody else');
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByText('Saved Quick tide')).toBeVisible();
  await cancelled;
});
