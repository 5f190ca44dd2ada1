import type { Page, Request } from '@playwright/test';

const STEP_MS = 50;
const LIMIT_MS = 60_000;

/** Resolves after the page has handled the outcome of a request and set its timers. */
export async function heard(page: Page, request: Request | undefined): Promise<void> {
  const response = await request?.response();
  await response?.finished();
  await turnEventLoop(page);
}

/** Resolves after a few turns of the page's event loop. */
export async function turnEventLoop(page: Page): Promise<void> {
  await page.evaluate(
    () =>
      new Promise<void>((done) => {
        // Uses no timer, because the page's clock may be halted.
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
 * Advances the page's halted clock until the condition holds. The test may notice this some steps later, so do not
 * assert the elapsed time.
 */
export async function elapseUntil(page: Page, isSo: () => boolean, stepMs = STEP_MS): Promise<void> {
  for (let elapsedMs = 0; elapsedMs <= LIMIT_MS; elapsedMs += stepMs) {
    if (isSo()) return;
    await page.clock.runFor(stepMs);
    await page.evaluate(() => null);
  }
  throw new Error(`The condition did not hold within ${LIMIT_MS} ms of the page's clock`);
}
