import { randomUUID } from 'node:crypto';
import type { Request } from '@playwright/test';
import { CONSOLE_API } from '../../src/contract/console/paths.ts';
import { inviteOperator, revokeOperator } from '../../src/core/console/operators.ts';
import { acceptInvitation } from '../../src/core/console/sign-in.ts';
import {
  failUntilClick,
  openConsole,
  signIn,
  signInAndOpen,
  stopLiveUpdates,
  waitUntilConsoleIsServed,
} from '../support/console-page.ts';
import { startE2eSite } from '../support/e2e-site.ts';
import { expect, test, testWith } from '../support/e2e-test.ts';
import { PASSPHRASE } from '../support/operator.ts';

test('an operator whose accepted invitation got no response can sign in with the passphrase', async ({
  page,
  site,
  expectConsoleError,
}) => {
  const name = `op-${randomUUID().slice(0, 8)}`;
  const { token } = await inviteOperator(site.database, name, new Date());
  await waitUntilConsoleIsServed(page);
  await page.route(
    CONSOLE_API.acceptInvitation,
    async (route) => {
      await acceptInvitation(site.database, { token, passphrase: PASSPHRASE, now: new Date() });
      await route.abort();
    },
    { times: 1 },
  );
  expectConsoleError(/ERR_FAILED/);
  expectConsoleError(/410 \(Gone\)/);
  expectConsoleError(/401 \(Unauthorized\)/);
  await page.goto(`/console#invitation=${token}`);
  await page.getByLabel('Passphrase').fill(PASSPHRASE);
  await page.keyboard.press('Enter');
  await expect(page.getByText('The site cannot be reached.')).toBeVisible();
  await page.keyboard.press('Enter');
  await expect(page.getByText('An earlier attempt may have set its passphrase.')).toBeVisible();
  await page.getByRole('button', { name: 'Sign in instead' }).click();
  await page.getByLabel('Name').fill(name);
  await page.getByLabel('Passphrase').fill(PASSPHRASE);
  await page.keyboard.press('Enter');
  await expect(page.getByRole('heading', { level: 1, name: 'Overview' })).toBeVisible();
});

test('an invitation page offers to try again if the check of the invitation fails, but not if it is invalid', async ({
  page,
  site,
  expectConsoleError,
}) => {
  const name = `op-${randomUUID().slice(0, 8)}`;
  const { token } = await inviteOperator(site.database, name, new Date());
  await waitUntilConsoleIsServed(page);
  await failUntilClick(page, ({ pathname }) => pathname === CONSOLE_API.invitation);
  expectConsoleError(/500 \(Internal Server Error\)/);
  expectConsoleError(/410 \(Gone\)/);
  await page.goto(`/console#invitation=${token}`);
  await expect(page.getByText('It broke.')).toBeVisible();
  await page.getByRole('button', { name: 'Try again' }).press('Enter');
  await expect(page.getByRole('heading', { name: `Welcome, ${name}` })).toBeVisible();
  await page.goto('/console#invitation=used');
  await expect(page.getByRole('button', { name: 'Sign in instead' })).toBeVisible();
  await expect(page.getByRole('button', { name: 'Try again' })).toHaveCount(0);
});

test('a check of the session that was sent before a sign-in does not undo the sign-in', async ({
  page,
  site,
  expectConsoleError,
}) => {
  const name = `eve-${randomUUID().slice(0, 8)}`;
  const { token } = await inviteOperator(site.database, name, new Date());
  await acceptInvitation(site.database, { token, passphrase: PASSPHRASE, now: new Date() });
  expectConsoleError(/401 \(Unauthorized\)/);
  await waitUntilConsoleIsServed(page);
  await page.goto('/console');
  await page.getByLabel('Name').fill(name);
  await page.getByLabel('Passphrase').fill(PASSPHRASE);
  const isCheck = (request: Request) => request.url().endsWith(CONSOLE_API.session);
  await page.route(`**${CONSOLE_API.session}`, () => {}, { times: 1 });
  const [check] = await Promise.all([
    page.waitForRequest(isCheck),
    page.evaluate(() => window.dispatchEvent(new Event('focus'))),
  ]);
  const cancelled = page.waitForEvent('requestfailed', (request) => request === check);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await cancelled;
  await expect(page.getByRole('heading', { level: 1, name: 'Overview' })).toBeVisible();
});

test('a window whose operator has been replaced in another window changes nothing, and shows the new operator', async ({
  page,
  site,
  expectConsoleError,
}) => {
  const { id } = await site.addProduct();
  await site.addComments(id, [{ content: 'First' }, { content: 'Second' }]);
  const [ada, bob] = [`ada-${randomUUID().slice(0, 8)}`, `bob-${randomUUID().slice(0, 8)}`];
  // A new stream would also make the window read its session again.
  await stopLiveUpdates(page);
  await signIn(page, site, ada);
  await openConsole(page, `/console/comments?product=${id}`);
  const hide = page.getByRole('listitem').filter({ hasText: 'First' }).getByRole('button', { name: 'Hide' });
  await hide.click();
  await signIn(page, site, bob);
  expectConsoleError(/401 \(Unauthorized\)/);
  await page.getByRole('dialog').getByRole('button', { name: 'Hide' }).click();
  await expect(page.getByText(bob)).toBeVisible();
  await expect(hide).toBeVisible();
  await signIn(page, site, ada);
  await page.evaluate(() => window.dispatchEvent(new Event('focus')));
  await expect(page.getByText(ada)).toBeVisible();
});

// Uses its own site, because other tests add operators to the shared one.
testWith(() => startE2eSite({ SAMPLE_CATALOGUE: 'off' }))(
  'after the only operator is revoked, an open page shows the sign-in screen instead of its data',
  async ({ page, site, expectConsoleError }) => {
    await site.addProduct({ name: 'Lighthouse' });
    let waitingReads = 0;
    page.on('request', (request) => {
      if (request.url().endsWith(CONSOLE_API.waiting)) waitingReads += 1;
    });
    await signInAndOpen(page, site, '/console/products');
    await expect(page.getByRole('button', { name: 'Lighthouse', exact: true })).toBeVisible();
    // The second request for the number of waiting items follows the start of the live updates.
    await expect.poll(() => waitingReads).toBeGreaterThan(1);
    expectConsoleError(/40[14]/);
    await revokeOperator(site.database, 'ada');
    await expect(page.getByRole('heading', { name: 'Sign in to the console' })).toBeVisible();
  },
);
