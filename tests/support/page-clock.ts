import { expect, type Page, type Request } from '@playwright/test';

const STEP_MS = 50;
const LIMIT_MS = 60_000;

/**
 * Resolves after the page has handled the response or failure of a request and has set the timers that result from it.
 */
export async function waitUntilHandled(page: Page, request: Request | undefined): Promise<void> {
  const response = await request?.response();
  await response?.finished();
  await turnEventLoop(page);
}

/** Resolves after a few turns of the page's event loop. */
export async function turnEventLoop(page: Page): Promise<void> {
  await page.evaluate(
    () =>
      new Promise<void>((done) => {
        // Uses no timers, because the page's clock may be paused.
        let turns = 5;
        const channel = new MessageChannel();
        channel.port1.onmessage = () => {
          turns -= 1;
          if (turns === 0) done();
          else channel.port2.postMessage(null);
        };
        channel.port2.postMessage(null);
      }),
  );
}

/**
 * Advances the page's paused clock until the condition holds. May overshoot by a few steps, so do not assert the
 * elapsed time.
 */
export async function elapseUntil(page: Page, condition: () => boolean, stepMs = STEP_MS): Promise<void> {
  for (let elapsedMs = 0; elapsedMs <= LIMIT_MS; elapsedMs += stepMs) {
    if (condition()) return;
    await page.clock.runFor(stepMs);
    await page.evaluate(() => null);
  }
  throw new Error(`The condition did not hold within ${LIMIT_MS} ms of the page's clock`);
}

/** Sets the clock of documents that open after this call a day ahead of the server. */
export async function skipDay(page: Page): Promise<void> {
  await page.addInitScript((dayMs) => {
    const { now } = Date;
    Date.now = () => now() + dayMs;
    Object.defineProperty(performance, 'timeOrigin', { value: performance.timeOrigin + dayMs });
  }, 86_400_000);
}

/** Waits until a link leads to today's leaderboard, according to the page's clock. Default: the link "Leaderboards". */
export async function expectTodaysLink(
  page: Page,
  link = page.getByRole('main').getByRole('link', { name: 'Leaderboards' }),
): Promise<void> {
  await expect(async () => {
    // Reads the page's day in each attempt, because midnight may pass.
    const day = await page.evaluate(() => new Date(Date.now()).toISOString().slice(0, 10));
    await expect(link).toHaveAttribute('href', new RegExp(`/\\?board=${day}$`), { timeout: 2_000 });
  }).toPass();
}

/** Freezes ages as the server rendered them, because a longer age next to a truncated name shifts a few pixels. */
export async function freezeAges(page: Page): Promise<void> {
  await page.addInitScript(() => {
    const { now } = Date;
    Date.now = () => JSON.parse(document.querySelector('#state')?.textContent || '{}').renderedAt ?? now();
  });
}
