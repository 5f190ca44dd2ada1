import { randomUUID } from 'node:crypto';
import { expect, type Page } from '@playwright/test';
import { CONSOLE_API, CONSOLE_PATHS } from '../../src/contract/console/paths.ts';
import { inviteOperator } from '../../src/core/console/operators.ts';
import { beginSession } from '../../src/core/console/sessions.ts';
import { systemRuntime } from '../../src/core/runtime.ts';
import { createSubmission, type WrittenSubmission } from '../../src/core/submissions/create-submission.ts';
import type { E2eSite } from './e2e-site.ts';
import { otherVisitor } from './other-visitor.ts';

/** Signs in to the console as an operator with this name, in this page's browser. */
export async function signIn(page: Page, site: E2eSite, name = 'ada'): Promise<void> {
  await inviteOperator(site.database, name, new Date());
  const token = await beginSession(site.database, name, new Date());
  await page
    .context()
    .addCookies([{ name: 'console_session', value: token, url: site.address, sameSite: 'Strict', httpOnly: true }]);
}

/** Waits until the site serves its console. The site checks only once a second whether its console is enabled. */
export async function waitUntilConsoleIsServed(page: Page): Promise<void> {
  for (;;) {
    const response = await page.request.get(CONSOLE_PATHS.home);
    if (response.status() === 200) return;
  }
}

/** Opens a screen of the console and waits for its heading. */
export async function openConsole(page: Page, path: string = CONSOLE_PATHS.home): Promise<void> {
  await waitUntilConsoleIsServed(page);
  await page.goto(path);
  await page.getByRole('heading', { level: 1 }).waitFor();
}

/**
 * Leaves requests for live updates without a response, so pages that open after this call do not refetch their data.
 */
export async function stopLiveUpdates(page: Page): Promise<void> {
  await page.route(CONSOLE_API.events, () => {});
}

/** Signs in as an operator and opens a screen of the console. */
export async function signInAndOpen(page: Page, site: E2eSite, path: string = CONSOLE_PATHS.home): Promise<void> {
  await signIn(page, site);
  await openConsole(page, path);
}

/**
 * Responds 500 to matching requests of a page until the operator clicks "Try again". The page itself may repeat a
 * request at any time, so a request alone does not show that a button works.
 */
export async function failUntilClick(page: Page, matches: (url: URL) => boolean): Promise<void> {
  await page.addInitScript(() => {
    const note = ({ target }: Event) => {
      // Ignores a click that misses the button because the page moves. Playwright repeats such a click.
      if (target instanceof Element && target.closest('button')?.textContent === 'Try again')
        Object.assign(window, { hasClick: true });
    };
    addEventListener('click', note, true);
  });
  await page.route(matches, async (route) => {
    // `evaluate` rejects while the page navigates to another document, in which nothing has been clicked yet.
    const hasClick = await page.evaluate(() => 'hasClick' in window).catch(() => false);
    if (hasClick) await route.fallback();
    else await route.fulfill({ status: 500, json: { code: 'internal', detail: 'It broke.' } });
  });
}

/** Holds the requests for a path. @returns a function that lets them continue. */
export async function holdRequests(page: Page, path: string): Promise<() => void> {
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  await page.route(path, async (route) => {
    await released;
    await route.fallback();
  });
  return release;
}

/** Writes a comment as a visitor, and waits until live updates show it. */
export async function writeComment(page: Page, productId: string, content: string): Promise<void> {
  await otherVisitor(page).comment(productId, content);
  await expect(page.getByText(content)).toBeVisible();
}

/** The time of the last submission, in milliseconds since 1970. */
let lastMs = 0;

/** Adds submissions that wait for a decision. The queue shows them in this order, even if the clock moves back. */
export async function addSubmissions(site: E2eSite, names: readonly string[]): Promise<WrittenSubmission[]> {
  const written: WrittenSubmission[] = [];
  for (const name of names) {
    const submitter = { session: `session-${randomUUID()}` };
    lastMs = Math.max(lastMs + 1, Date.now());
    const runtime = { ...systemRuntime, now: () => new Date(lastMs) };
    written.push(await createSubmission(site.database, runtime, { name }, { submitter }));
  }
  return written;
}
