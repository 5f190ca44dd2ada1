import { randomUUID } from 'node:crypto';
import { holdComments } from '../../src/core/comments/moderate-comments.ts';
import { addSubmissions, openConsole, signIn } from '../support/console-page.ts';
import { expect, test } from '../support/e2e-test.ts';

/** Three names, so a test finds its own submissions. */
const newNames = () =>
  ['First', 'Second', 'Third'].map((name) => `${name} ${randomUUID()}`) as [string, string, string];

// The first row of the queue is the active one, so each test starts with an empty queue.
test.beforeEach(async ({ site }) => {
  await site.database.query('DELETE FROM submissions');
  await site.database.query('UPDATE comments SET held_session = NULL WHERE held_session IS NOT NULL');
});

test('the queue keeps showing its first list when items of another kind arrive, and when it becomes empty', async ({
  page,
  site,
}) => {
  const product = await site.addProduct();
  const [comment] = await site.addComments(product.id, [{ content: 'Buy my coins' }]);
  await holdComments(site.database, [comment?.id ?? '']);
  await signIn(page, site);
  await openConsole(page, '/console/queue');
  await expect(page.getByText('Buy my coins')).toBeVisible();
  await addSubmissions(site, newNames());
  await expect(page.getByRole('radio', { name: 'Submissions 3' })).toBeVisible();
  await page.keyboard.press('a');
  await expect(page.getByText('Released 1 comment')).toBeVisible();
  await expect(page.getByRole('radio', { name: 'Held comments', exact: true })).toBeChecked();
  await expect(page.getByText('No comment is held')).toBeVisible();
});
