import { randomUUID } from 'node:crypto';
import { CONSOLE_API } from '../../src/contract/console/paths.ts';
import { addSubmissions, openConsole, signIn } from '../support/console-page.ts';
import { expect, test } from '../support/e2e-test.ts';

test('the overview counts a submission that arrives while it is open', async ({ page, site }) => {
  await site.database.query('DELETE FROM submissions');
  await signIn(page, site);
  const connected = page.waitForResponse((response) => response.url().endsWith(CONSOLE_API.events));
  await openConsole(page);
  await connected;
  await expect(page.getByText(/^0 submissions, /)).toBeVisible();
  await addSubmissions(site, [`Fresh ${randomUUID()}`]);
  await expect(page.getByText(/^1 submission, /)).toBeVisible();
});
