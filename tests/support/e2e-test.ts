import {
  type BrowserContext,
  type BrowserContextOptions,
  test as base,
  expect,
  type Locator,
  type Page,
  type TestInfo,
} from '@playwright/test';
import * as paths from '../../src/contract/paths.ts';
import { type E2eSite, startE2eSite } from './e2e-site.ts';
import { createPageErrors, type PageErrors, reportViolations } from './page-errors.ts';
import { closeContext, ReusedContext } from './reused-context.ts';

interface TestFixtures {
  /**
   * The built site, by default with the sample catalogue. Tests share the site, so each adds the products it changes.
   */
  site: E2eSite;
  errors: PageErrors;
  /** Expects a console error, which must then occur and does not fail the test. */
  expectConsoleError: (pattern: RegExp) => void;
  /** Advances the page's clock by `aheadMs`, by default a minute, and pauses it there, as `page.clock.pauseAt` does. */
  pauseClock: (aheadMs?: number) => Promise<void>;
  /** Whether pages receive live updates. */
  live: boolean;
  /** Opens a page in another browser context, whose errors also fail the test. */
  newVisitor: (options?: BrowserContextOptions) => Promise<Page>;
}

interface WorkerFixtures {
  reused: ReusedContext;
  /**
   * Starts a site, unless it is running. The tests of a worker share it. Only the default site and the last other one
   * keep running, because even an idle site takes CPU time.
   */
  sharedSite: (start: () => Promise<E2eSite>) => Promise<E2eSite>;
}

const DEFAULT_MEDIA = { media: null, colorScheme: 'light', forcedColors: 'none', contrast: 'no-preference' } as const;

/** A page fails its test on an uncaught error, a console error or a violation of the content security policy. */
export const test = base.extend<TestFixtures, WorkerFixtures>({
  sharedSite: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright infers the dependencies of a fixture from this pattern
    async ({}, use) => {
      const sites = new Map<() => Promise<E2eSite>, E2eSite>();
      const stop = async (start: () => Promise<E2eSite>) => {
        await sites.get(start)?.stop();
        sites.delete(start);
      };
      await use(async (start) => {
        if (!sites.has(start)) {
          for (const other of sites.keys()) if (start !== startE2eSite && other !== startE2eSite) await stop(other);
          const site = await start();
          await site.takeNewNames();
          sites.set(start, site);
        }
        return sites.get(start) as E2eSite;
      });
      for (const start of sites.keys()) await stop(start);
    },
    { scope: 'worker', timeout: 300_000 },
  ],

  site: [({ sharedSite }, use, info) => useSite({ sharedSite, start: startE2eSite }, use, info), { timeout: 300_000 }],

  baseURL: ({ site }, use) => use(site.address),

  // Tests count the page's own requests, so only tests of the offline cache allow a service worker.
  serviceWorkers: 'block',

  // Live updates would also cause further requests.
  live: [false, { option: true }],

  // biome-ignore lint/correctness/noEmptyPattern: Playwright infers the dependencies of a fixture from this pattern
  errors: async ({}, use) => {
    const errors = createPageErrors();
    await use(errors);
    errors.verify();
  },

  expectConsoleError: ({ errors }, use) => use(errors.expectError),

  pauseClock: ({ page }, use) => use((aheadMs = 60_000) => page.clock.pauseAt(Date.now() + aheadMs)),

  reused: [
    async ({ browser }, use) => {
      const reused = new ReusedContext(browser);
      await use(reused);
      await reused.close();
    },
    { scope: 'worker' },
  ],

  context: async ({ reused, baseURL, errors, live, javaScriptEnabled, contextOptions }, use, info) => {
    const options = JSON.stringify({ baseURL, live, javaScriptEnabled, contextOptions });
    const context = await reused.start(options, (context) => prepare(context, live));
    errors.watch(context);
    await use(context);
    // After a failure, the page is left unchanged for the screenshot.
    if (baseURL && info.status === info.expectedStatus && (await errors.settle())) {
      await reused.reset(baseURL, { ...DEFAULT_MEDIA, reducedMotion: contextOptions.reducedMotion ?? 'no-preference' });
    } else reused.discard();
  },

  page: ({ context }, use) => use(context.pages()[0] as Page),

  newVisitor: async ({ browser, baseURL, errors, live }, use, info) => {
    const open: Page[] = [];
    await use(async (options = {}) => {
      const context = await browser.newContext({ ...(baseURL ? { baseURL } : {}), ...options });
      await prepare(context, live);
      errors.watch(context);
      const page = await context.newPage();
      open.push(page);
      return page;
    });
    if (info.status === info.expectedStatus) await errors.settle();
    for (const page of open) await closeContext(page.context());
  },
});

/** Returns a test function whose tests use the site that `start` starts. */
export function testWith(start: () => Promise<E2eSite>): typeof test {
  return test.extend({
    site: [
      ({ sharedSite }, use, info) => useSite({ sharedSite, start }, use, info),
      { scope: 'test', timeout: 300_000 },
    ],
  });
}

/** The searches that pages sent since the last test ended. */
const searches = new Set<string>();

/**
 * Lets a test use a shared site, whose moderation queue is empty, and reports the names of its products and its
 * searches. After a complete run, scripts/test/reports.js fails the run if another test of the same site uses or finds
 * one of these names.
 */
async function useSite(
  { sharedSite, start }: Pick<WorkerFixtures, 'sharedSite'> & { start: () => Promise<E2eSite> },
  use: (site: E2eSite) => Promise<void>,
  info: TestInfo,
): Promise<void> {
  const site = await sharedSite(start);
  // At the start, because at the end of the previous test, the server may still handle one of that test's requests.
  await site.emptyQueue();
  const printed = site.output().length;
  await use(site);
  if (info.status !== info.expectedStatus)
    await info.attach('log of the site', { body: site.output().slice(printed), contentType: 'text/plain' });
  const used = { site: String(start), names: await site.takeNewNames(), searches: [...searches] };
  searches.clear();
  info.annotations.push({ type: 'shared site', description: JSON.stringify(used) });
}

async function prepare(context: BrowserContext, live: boolean): Promise<void> {
  context.on('page', awaitInterception);
  context.on('request', (request) => {
    const text = new URL(request.url()).searchParams.get('q');
    if (text) searches.add(text);
  });
  await reportViolations(context);
  if (live) return;
  // Responds 204 to requests for an event stream, which stops retries. A Playwright route would disable the HTTP cache.
  await context.addInitScript((events) => {
    const { fetch } = window;
    window.fetch = (input, init) =>
      String(input).startsWith(events) ? Promise.resolve(new Response(null, { status: 204 })) : fetch(input, init);
  }, paths.api.events);
}

/**
 * Makes `page.route` wait until it applies to the requests of a loaded page. Chromium notifies the page in a task,
 * which the next key or click may overtake, but a task of the same priority may not.
 */
function awaitInterception(page: Page): void {
  const route = page.route.bind(page);
  page.route = async (...parameters) => {
    const registered = await route(...parameters);
    // Rejects if the page is navigating. The next document is intercepted from its start.
    await page.evaluate('scheduler.postTask(() => {})').catch(() => {});
    return registered;
  };
}

export { expect } from '@playwright/test';

/** Opens a page with products and waits for its request for the upvotes, which it sends at the end of hydration. */
export async function visit(page: Page, path: string): Promise<void> {
  let isOpen = false;
  // The previous page may still send such a request.
  page.once('framenavigated', () => {
    isOpen = true;
  });
  const alive = page.waitForRequest((request) => isOpen && /\/api\/upvotes\?/.test(request.url()));
  await page.goto(path);
  await alive;
}

/** Waits until React has hydrated an element. React stores its fiber in a property with this prefix. */
export async function waitForHydration(element: Locator): Promise<void> {
  const isHydrated = (node: Element) => Object.keys(node).some((key) => key.startsWith('__reactFiber'));
  await expect.poll(() => element.evaluate(isHydrated)).toBe(true);
  // React commits and runs effects only after hydrating the other elements. A background task runs after React's tasks.
  await element.page().evaluate("scheduler.postTask(() => {}, { priority: 'background' })");
}
