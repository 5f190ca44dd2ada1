import type { Page } from '@playwright/test';
import { CONSOLE_PATHS } from '../../src/contract/console/paths.ts';
import { inviteOperator } from '../../src/core/console/operators.ts';
import { beginSession } from '../../src/core/console/sessions.ts';
import type { E2eSite } from './e2e-site.ts';

/** Signs in to the console as an operator with this name, in this page's browser. */
export async function signIn(page: Page, site: E2eSite, name = 'ada'): Promise<void> {
  await inviteOperator(site.database, name, new Date());
  const token = await beginSession(site.database, name, new Date());
  await page
    .context()
    .addCookies([{ name: 'console_session', value: token, url: site.address, sameSite: 'Strict', httpOnly: true }]);
}

/** Waits until the site serves its console. It checks only once a second whether its console is enabled. */
export async function untilEnabled(page: Page): Promise<void> {
  for (;;) {
    const response = await page.request.get(CONSOLE_PATHS.home);
    if (response.status() === 200) return;
  }
}

/** Opens a screen of the console and waits for its heading. */
export async function openConsole(page: Page, path: string = CONSOLE_PATHS.home): Promise<void> {
  await untilEnabled(page);
  await page.goto(path);
  await page.getByRole('heading', { level: 1 }).waitFor();
}
