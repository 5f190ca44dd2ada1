import type { Page, Request } from '@playwright/test';

const STEP_MS = 50;
const LIMIT_MS = 60_000;

/** Resolves once the page, too, has heard what became of a request, and has set its timers. */
export async function heard(page: Page, request: Request | undefined): Promise<void> {
  const response = await request?.response();
  await response?.finished();
  await page.evaluate(
    () =>
      new Promise<void>((done) => {
        // Turns of the event loop without a timer, whose clock stands still.
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

/** Moves the page's halted clock on until something is so, and returns after how many of its milliseconds it was. */
export async function elapseUntil(page: Page, isSo: () => boolean): Promise<number> {
  for (let elapsedMs = 0; elapsedMs <= LIMIT_MS; elapsedMs += STEP_MS) {
    if (isSo()) return elapsedMs;
    await page.clock.runFor(STEP_MS);
    await page.evaluate(() => null);
  }
  throw new Error(`Nothing came of ${LIMIT_MS} ms`);
}
