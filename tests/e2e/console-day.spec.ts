import { randomUUID } from 'node:crypto';
import { inviteOperator } from '../../src/core/console/operators.ts';
import { removeProducts } from '../../src/core/products/remove-products.ts';
import { systemRuntime } from '../../src/core/runtime.ts';
import { saveUpvoteBursts } from '../../src/core/stats/upvote-bursts.ts';
import { createSubmission } from '../../src/core/submissions/create-submission.ts';
import { expect, test } from '../support/e2e-test.ts';
import { PASSPHRASE } from '../support/operator.ts';

const VOTES = 4;

test('an invited operator can do every daily task on a phone, with hostile names on every screen', async ({
  page,
  site,
}) => {
  await page.setViewportSize({ width: 390, height: 844 });
  const key = randomUUID().slice(0, 8);
  const hostile = `<img src=x onerror="window.owned=1">${key}`;
  const operator = `op-${key}`;
  const now = new Date();
  const submitter = { session: `session-${key}` };
  const { row } = await createSubmission(site.database, systemRuntime, { name: hostile }, { submitter });
  const burst = await site.addProduct({ name: `Burst ${hostile}`, createdAt: now.toISOString() });
  await site.addComments(burst.id, [{ content: `Buy my coins ${hostile}`, authorName: hostile }]);
  const hour = new Date(Math.floor(now.getTime() / 3_600_000) * 3_600_000).toISOString();
  await site.addUpvotes(burst.id, VOTES, now);
  await saveUpvoteBursts(site.database, [{ hour, productId: burst.id, network: 'one', sessions: 24 }]);
  const removed = await site.addProduct({ name: `Removed ${hostile}` });
  await removeProducts(site.database, [removed.id]);
  const statusOf = async (id: string) => (await page.request.get(`/api/products/${id}`)).status();
  const open = async (screen: string) => {
    await page.getByRole('navigation').getByRole('link', { name: screen }).click();
    await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
  };

  // Signs in.
  const { token } = await inviteOperator(site.database, operator, now);
  await expect.poll(async () => (await page.request.get('/console')).status()).toBe(200);
  await page.goto(`/console#invitation=${token}`);
  await page.getByLabel('Passphrase').fill(PASSPHRASE);
  await page.getByRole('button', { name: 'Set passphrase and sign in' }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'Overview' })).toBeVisible();

  // Approves a submission.
  await open('Queue');
  await page.getByRole('radio', { name: /^Submissions/ }).check();
  await page.getByRole('article', { name: hostile }).getByRole('button', { name: 'Approve' }).click();
  await expect.poll(() => statusOf(row.id)).toBe(200);

  // Excludes a burst of votes, which changes the leaderboard.
  const votesOnBoard = async () => {
    const { items } = await (
      await page.request.get(`/api/leaderboards/${now.toISOString().slice(0, 10)}?limit=100`)
    ).json();
    return items?.find(({ productId }: { productId: string }) => productId === burst.id)?.votes;
  };
  await expect.poll(votesOnBoard).toBe(VOTES);
  await page.getByRole('radio', { name: /^Vote bursts/ }).check();
  await page.getByRole('button', { name: `Show votes for Burst ${hostile}` }).click();
  const dialog = page.getByRole('dialog');
  await expect(dialog.getByText(`Counted ${VOTES}`)).toBeVisible();
  await dialog.getByRole('checkbox').first().uncheck();
  await dialog.getByLabel('Reason').fill('Bought votes');
  await dialog.getByRole('button', { name: `Exclude ${VOTES - 1} votes` }).click();
  await expect(page.getByText(`Excluded ${VOTES - 1} votes`)).toBeVisible();
  await expect.poll(votesOnBoard).toBe(1);
  await page.getByRole('button', { name: `Show votes for Burst ${hostile}` }).click();
  await expect(dialog.getByText(`Excluded ${VOTES - 1}`)).toBeVisible();
  await page.keyboard.press('Escape');

  // Hides a comment, and undoes that.
  const comments = async () => (await (await page.request.get(`/api/products/${burst.id}/comments`)).json()).total;
  await page.goto(`/console/comments?product=${burst.id}`);
  await page.getByRole('button', { name: 'Hide' }).click();
  await dialog.getByRole('button', { name: 'Hide' }).click();
  await expect(dialog).toBeHidden();
  // A focused toast does not time out.
  const undo = page.getByRole('button', { name: 'Undo', exact: true });
  await undo.focus();
  await expect.poll(comments).toBe(0);
  await undo.click();
  await expect.poll(comments).toBe(1);

  // Imports a file.
  await open('Import');
  await page.getByLabel('Drop a file here, or choose one').setInputFiles({
    name: `..%2f${key}.csv`,
    mimeType: 'text/csv',
    buffer: Buffer.from(`id,name\n${key}-a,"${hostile.replaceAll('"', '""')}"\n`),
  });
  await page.getByRole('button', { name: 'Dry run' }).click();
  await page.getByRole('button', { name: 'Import 1 product' }).click();
  await expect.poll(() => statusOf(`${key}-a`)).toBe(200);

  // Restores a product.
  await page.goto('/console/products?state=removed');
  await page.getByRole('button', { name: `Restore Removed ${hostile}` }).click();
  await expect.poll(() => statusOf(removed.id)).toBe(200);

  // Reads the audit log and signs out.
  await page.goto(`/console/audit?operator=${operator}`);
  for (const action of ['restored', 'imported', 'hid comment', 'excluded', 'approved'])
    await expect(page.getByRole('listitem').filter({ hasText: action }).first()).toBeVisible();
  expect(await page.evaluate(() => 'owned' in window)).toBe(false);
  await page.getByRole('button', { name: 'Jump to' }).click();
  await page.getByRole('combobox', { name: 'Jump to a screen' }).fill('everywhere');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('heading', { name: 'Sign in to the console' })).toBeVisible();
});
