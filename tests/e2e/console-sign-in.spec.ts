import { randomUUID } from 'node:crypto';
import { CONSOLE_API } from '../../src/contract/console/paths.ts';
import { inviteOperator } from '../../src/core/console/operators.ts';
import { acceptInvitation } from '../../src/core/console/sign-in.ts';
import { untilEnabled } from '../support/console-page.ts';
import { expect, test } from '../support/e2e-test.ts';

test('an operator whose accepted invitation got no response can sign in with the passphrase', async ({
  page,
  site,
  expectConsoleError,
}) => {
  const name = `op-${randomUUID().slice(0, 8)}`;
  const passphrase = 'correct horse battery';
  const { token } = await inviteOperator(site.database, name, new Date());
  await untilEnabled(page);
  await page.route(
    CONSOLE_API.acceptInvitation,
    async (route) => {
      await acceptInvitation(site.database, { token, passphrase, now: new Date() });
      await route.abort();
    },
    { times: 1 },
  );
  expectConsoleError(/ERR_FAILED/);
  expectConsoleError(/410 \(Gone\)/);
  expectConsoleError(/401 \(Unauthorized\)/);
  await page.goto(`/console#invitation=${token}`);
  await page.getByLabel('Passphrase').fill(passphrase);
  await page.keyboard.press('Enter');
  await expect(page.getByText('The site cannot be reached.')).toBeVisible();
  await page.keyboard.press('Enter');
  await expect(page.getByText('An earlier attempt may have set its passphrase.')).toBeVisible();
  await page.getByRole('button', { name: 'Sign in instead' }).click();
  await page.getByLabel('Name').fill(name);
  await page.getByLabel('Passphrase').fill(passphrase);
  await page.keyboard.press('Enter');
  await expect(page.getByRole('heading', { level: 1, name: 'Overview' })).toBeVisible();
});
