import type { Browser, BrowserContext, Disposable, Page } from '@playwright/test';

type Method = (...args: unknown[]) => unknown;

/** Methods that return a `Disposable`, which reverts their effects. */
const DISPOSABLE = ['addInitScript', 'exposeFunction'];

/** Methods whose effects the reset cannot revert. */
const LASTING = {
  page: ['setExtraHTTPHeaders'],
  context: ['newCDPSession', 'setExtraHTTPHeaders'],
  clock: ['fastForward', 'install', 'pauseAt', 'runFor', 'setFixedTime', 'setSystemTime'],
};

type Media = Parameters<Page['emulateMedia']>[0];

interface OpenContext {
  context: BrowserContext;
  page: Page;
  options: string;
  viewport: ReturnType<Page['viewportSize']>;
  /** Whether the test emulated other media. */
  hasOtherMedia: boolean;
  /** The scripts and functions that the test added to the page. */
  added: Disposable[];
  /** Removes the listeners that the test added. */
  removeListeners: (() => void)[];
  /** Whether the next test can use the context. */
  isClean: boolean;
}

/**
 * A browser context and its page, shared by the tests of a worker. A new page takes a quarter of a second of CPU time,
 * and the runner's own option `reuseContext` clears the HTTP cache.
 */
export class ReusedContext {
  readonly #browser: Browser;
  #open: OpenContext | undefined;

  constructor(browser: Browser) {
    this.#browser = browser;
  }

  /**
   * Provides a context with one page, in the state of a new context.
   * @param options - if different from the last call, a new context is created
   * @param prepare - called with a new context before its page opens
   */
  async start(options: string, prepare: (context: BrowserContext) => Promise<void>): Promise<BrowserContext> {
    if (!this.#open?.isClean || this.#open.options !== options) {
      await this.close();
      const context = await this.#browser.newContext();
      await prepare(context);
      const page = await context.newPage();
      this.#open = {
        context,
        page,
        options,
        viewport: page.viewportSize(),
        hasOtherMedia: false,
        added: [],
        removeListeners: [],
        isClean: true,
      };
      watchChanges(this.#open);
    }
    return this.#open.context;
  }

  /**
   * Resets the context for the next test. If the test made a change that cannot be reset, the next one gets a new
   * context.
   * @param site - address of the site whose storage is cleared
   * @param media - the media that a new context emulates
   */
  async reset(site: string, media: Media): Promise<void> {
    const open = this.#open;
    if (!open?.isClean || open.page.isClosed()) return this.discard();
    const { context, page, viewport } = open;
    for (const other of context.pages()) if (other !== page) await other.close();
    for (const added of open.added.splice(0)) await added.dispose();
    await context.setOffline(false);
    await context.clearPermissions();
    await page.mouse.move(-1, -1);
    // Leaves the last page before clearing its storage and removing its routes, because the page may store data when it
    // is closed, and may repeat requests that only a route responds to.
    const empty = new URL('/robots.txt', site).href;
    // A page that goes back after the navigation has begun, because a dialog has closed late, aborts the navigation.
    await page.goto(empty).catch(() => page.goto(empty));
    for (const target of [page, context]) await target.unrouteAll({ behavior: 'ignoreErrors' });
    await page.evaluate(() => {
      localStorage.clear();
      sessionStorage.clear();
    });
    await context.clearCookies();
    if (viewport) await page.setViewportSize(viewport);
    if (open.hasOtherMedia) await page.emulateMedia(media);
    open.hasOtherMedia = false;
    for (const remove of open.removeListeners.splice(0)) remove();
  }

  /** Makes the next test open another context. */
  discard(): void {
    if (this.#open) this.#open.isClean = false;
  }

  async close(): Promise<void> {
    if (this.#open) await closeContext(this.#open.context);
    this.#open = undefined;
  }
}

/**
 * Closes a context. A route may still be handling a request, whose failure must not fail the test. The pages close
 * first, because they may repeat requests that only a route responds to.
 */
export async function closeContext(context: BrowserContext): Promise<void> {
  const pages = context.pages();
  const closing = pages.map((page) => page.close());
  await Promise.allSettled([...pages, context].map((target) => target.unrouteAll({ behavior: 'ignoreErrors' })));
  await Promise.all(closing);
  await context.close();
}

/** Records the changes that a test makes. */
function watchChanges(open: OpenContext): void {
  const { context, page } = open;
  const intercept = (target: object, name: string, record: (args: unknown[], result: unknown) => unknown) => {
    const methods = target as Record<string, Method>;
    const method = methods[name]?.bind(target);
    if (!method) throw new Error(`Playwright has no method ${name}`);
    methods[name] = (...args) => {
      const result = method(...args);
      record(args, result);
      return result;
    };
  };
  for (const [targets, names] of [
    [[page], LASTING.page],
    [[context], LASTING.context],
    [[page.clock, context.clock], LASTING.clock],
  ] as const) {
    for (const target of targets) {
      for (const name of names) {
        intercept(target, name, () => {
          open.isClean = false;
        });
      }
    }
  }
  intercept(page, 'emulateMedia', () => {
    open.hasOtherMedia = true;
  });
  for (const target of [page, context]) {
    intercept(target, 'on', (args) => open.removeListeners.push(() => (target.off as Method)(...args)));
    for (const name of DISPOSABLE) {
      // The test's own call reports the error.
      intercept(target, name, (_, result) =>
        (result as Promise<Disposable>).then(
          (added) => open.added.push(added),
          () => {},
        ),
      );
    }
  }
}
