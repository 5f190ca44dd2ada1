import { type BrowserContext, type BrowserContextOptions, test as base, type Page } from '@playwright/test';
import { paths } from '../../src/contract/paths.ts';
import { type E2eSite, startE2eSite } from './e2e-site.ts';
import { createPageFaults, type PageFaults, reportViolations } from './page-faults.ts';
import { ReusedContext } from './reused-context.ts';

interface TestFixtures {
  faults: PageFaults;
  /** Announces a console error, which then does not fail the test but must occur. */
  expectConsoleError: (pattern: RegExp) => void;
  /** Halts the page's clock a minute from now, or `aheadMs` from now, as `page.clock.pauseAt` does. */
  pauseClock: (aheadMs?: number) => Promise<void>;
  /** Whether pages receive live updates. */
  live: boolean;
  /** A page in another browser context, watched like `page`. */
  newVisitor: (options?: BrowserContextOptions) => Promise<Page>;
}

interface WorkerFixtures {
  reused: ReusedContext;
  /** The built site with the sample catalogue. Tests of one worker share it, so a test adds the products that it changes. */
  site: E2eSite;
}

const DEFAULT_MEDIA = { media: null, colorScheme: 'light', forcedColors: 'none', contrast: 'no-preference' } as const;

/** A page fails its test on an uncaught error, a console error or a violation of the content policy. */
export const test = base.extend<TestFixtures, WorkerFixtures>({
  site: [
    // biome-ignore lint/correctness/noEmptyPattern: the runner reads from the pattern what a fixture needs
    async ({}, use) => {
      const site = await startE2eSite();
      await use(site);
      await site.stop();
    },
    { scope: 'worker', timeout: 300_000 },
  ],

  baseURL: ({ site }, use) => use(site.address),

  // Tests count the requests of the page itself. Only tests of the offline cache allow a service worker.
  serviceWorkers: 'block',

  // Live updates would cause further requests, too.
  live: [false, { option: true }],

  // biome-ignore lint/correctness/noEmptyPattern: the runner reads from the pattern what a fixture needs
  faults: async ({}, use) => {
    const faults = createPageFaults();
    await use(faults);
    faults.verify();
  },

  expectConsoleError: ({ faults }, use) => use(faults.announce),

  pauseClock: ({ page }, use) => use((aheadMs = 60_000) => page.clock.pauseAt(Date.now() + aheadMs)),

  reused: [
    async ({ browser }, use) => {
      const reused = new ReusedContext(browser);
      await use(reused);
      await reused.close();
    },
    { scope: 'worker' },
  ],

  context: async ({ reused, baseURL, faults, live, javaScriptEnabled, contextOptions }, use, info) => {
    const options = JSON.stringify({ baseURL, live, javaScriptEnabled, contextOptions });
    const context = await reused.start(options, (context) => prepare(context, live));
    faults.watch(context);
    await use(context);
    // A failure's screenshot needs the page.
    if (baseURL && info.status === info.expectedStatus && faults.areAnnounced()) {
      await reused.reset(baseURL, { ...DEFAULT_MEDIA, reducedMotion: contextOptions.reducedMotion ?? 'no-preference' });
    } else reused.discard();
  },

  page: ({ context }, use) => use(context.pages()[0] as Page),

  newVisitor: async ({ browser, baseURL, faults, live }, use) => {
    const open: Page[] = [];
    await use(async (options = {}) => {
      const context = await browser.newContext({ ...(baseURL ? { baseURL } : {}), ...options });
      await prepare(context, live);
      faults.watch(context);
      const page = await context.newPage();
      open.push(page);
      return page;
    });
    for (const page of open) await page.context().close();
  },
});

async function prepare(context: BrowserContext, live: boolean): Promise<void> {
  await reportViolations(context);
  if (live) return;
  // Responds 204 to requests for a stream, which stops retries. A route of Playwright would disable the HTTP cache.
  await context.addInitScript((events) => {
    const { fetch } = window;
    window.fetch = (input, init) =>
      String(input).startsWith(events) ? Promise.resolve(new Response(null, { status: 204 })) : fetch(input, init);
  }, paths.api.events);
}

export { expect } from '@playwright/test';

/** Opens a page with products and waits until it has hydrated, which ends with a request for the upvotes. */
export async function visit(page: Page, path: string): Promise<void> {
  const alive = page.waitForRequest(/\/api\/upvotes\?/);
  await page.goto(path);
  await alive;
}
