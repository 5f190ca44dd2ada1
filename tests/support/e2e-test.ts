import { type BrowserContext, type BrowserContextOptions, test as base, type Page } from '@playwright/test';
import { paths } from '../../src/contract/paths.ts';
import { type E2eSite, startE2eSite } from './e2e-site.ts';
import { createPageFaults, type PageFaults } from './page-faults.ts';

interface TestFixtures {
  faults: PageFaults;
  /** Announces an error in the browser's console, which would otherwise fail the test; it must then come. */
  expectConsoleError: (pattern: RegExp) => void;
  /** Whether pages hear of what others do. */
  live: boolean;
  /** The page of another visitor, in a browser profile of its own, watched like `page`. */
  newVisitor: (options?: BrowserContextOptions) => Promise<Page>;
}

interface WorkerFixtures {
  /** The built site with the sample catalogue. Tests of one worker share it: a test adds what it changes. */
  site: E2eSite;
}

/** Every page fails its test on an uncaught error, a console error or a violation of the content policy. */
export const test = base.extend<TestFixtures, WorkerFixtures>({
  site: [
    // biome-ignore lint/correctness/noEmptyPattern: the runner reads from the pattern what a fixture needs
    async ({}, use) => {
      const site = await startE2eSite();
      await use(site);
      await site.stop();
    },
    { scope: 'worker', timeout: 120_000 },
  ],

  baseURL: ({ site }, use) => use(site.address),

  // A test counts what a page itself asks for; those about reading offline let a service worker do so as well.
  serviceWorkers: 'block',

  // The same goes for streams and what pages read because of them.
  live: [false, { option: true }],

  // biome-ignore lint/correctness/noEmptyPattern: the runner reads from the pattern what a fixture needs
  faults: async ({}, use) => {
    const faults = createPageFaults();
    await use(faults);
    faults.verify();
  },

  expectConsoleError: ({ faults }, use) => use(faults.announce),

  context: async ({ context, faults, live }, use) => {
    await faults.watch(context);
    if (!live) await refuseStreams(context);
    await use(context);
  },

  newVisitor: async ({ browser, baseURL, faults, live }, use) => {
    const open: Page[] = [];
    await use(async (options = {}) => {
      const context = await browser.newContext({ ...(baseURL ? { baseURL } : {}), ...options });
      await faults.watch(context);
      if (!live) await refuseStreams(context);
      const page = await context.newPage();
      open.push(page);
      return page;
    });
    for (const page of open) await page.context().close();
  },
});

/** Says in the server's place that there is no stream, and no reason to ask again. A route would turn the HTTP cache off. */
async function refuseStreams(context: BrowserContext): Promise<void> {
  await context.addInitScript((events) => {
    const { fetch } = window;
    window.fetch = (input, init) =>
      String(input).startsWith(events) ? Promise.resolve(new Response(null, { status: 204 })) : fetch(input, init);
  }, paths.api.events);
}

export { expect } from '@playwright/test';

/** Opens a page that has products and waits until it is alive: the last thing that it does by itself is to ask for votes. */
export async function visit(page: Page, path: string): Promise<void> {
  const alive = page.waitForRequest(/\/api\/upvotes\?/);
  await page.goto(path);
  await alive;
}
