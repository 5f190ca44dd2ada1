import type { Browser, BrowserContext, Page } from '@playwright/test';

type Method = (...args: unknown[]) => unknown;

/** Methods whose effects the reset cannot take back. */
const LASTING = {
  page: ['addInitScript', 'emulateMedia', 'exposeFunction', 'setExtraHTTPHeaders'],
  context: ['addInitScript', 'exposeFunction', 'newCDPSession', 'setExtraHTTPHeaders'],
  clock: ['install', 'pauseAt', 'setFixedTime', 'setSystemTime'],
};

interface OpenContext {
  context: BrowserContext;
  page: Page;
  options: string;
  viewport: ReturnType<Page['viewportSize']>;
  /** Removes the listeners that the test added. */
  removeListeners: (() => void)[];
  /** Whether the next test can use it. */
  isClean: boolean;
}

/**
 * A browser context and its page, shared by the tests of a worker. A new page costs a quarter of a second of processor
 * time, and the runner's own option `reuseContext` empties the HTTP cache.
 */
export class ReusedContext {
  readonly #browser: Browser;
  #open: OpenContext | undefined;

  constructor(browser: Browser) {
    this.#browser = browser;
  }

  /**
   * Provides a context with one page, as new.
   * @param options - another value than last time causes a new context
   * @param prepare - called with a new context before its page opens
   */
  async start(options: string, prepare: (context: BrowserContext) => Promise<void>): Promise<BrowserContext> {
    if (!this.#open?.isClean || this.#open.options !== options) {
      await this.close();
      const context = await this.#browser.newContext();
      await prepare(context);
      const page = await context.newPage();
      const opened = { context, page, options, viewport: page.viewportSize(), removeListeners: [], isClean: true };
      watchChanges(opened);
      this.#open = opened;
    }
    return this.#open.context;
  }

  /**
   * Resets the context for the next test. If the test changed what cannot be reset, the next one gets a new context.
   * @param site - address of the site whose storage is emptied
   */
  async reset(site: string): Promise<void> {
    const open = this.#open;
    if (!open?.isClean || open.page.isClosed()) return this.discard();
    const { context, page, viewport } = open;
    for (const other of context.pages()) if (other !== page) await other.close();
    for (const target of [page, context]) await target.unrouteAll({ behavior: 'ignoreErrors' });
    await context.setOffline(false);
    await context.clearPermissions();
    await page.mouse.move(-1, -1);
    // The last page may still store something as it is left.
    await page.goto(new URL('/robots.txt', site).href);
    await page.evaluate(() => {
      localStorage.clear();
      sessionStorage.clear();
    });
    await context.clearCookies();
    if (viewport) await page.setViewportSize(viewport);
    for (const remove of open.removeListeners.splice(0)) remove();
  }

  /** Has the next test open another context. */
  discard(): void {
    if (this.#open) this.#open.isClean = false;
  }

  async close(): Promise<void> {
    await this.#open?.context.close();
    this.#open = undefined;
  }
}

/** Notes calls of `LASTING` methods, and the listeners that are added. */
function watchChanges(open: OpenContext): void {
  const { context, page } = open;
  const intercept = (target: object, name: string, before: Method) => {
    const methods = target as Record<string, Method>;
    const method = methods[name]?.bind(target);
    if (!method) throw new Error(`Playwright has no method ${name}`);
    methods[name] = (...args) => {
      before(...args);
      return method(...args);
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
  for (const target of [page, context]) {
    intercept(target, 'on', (...args) => {
      open.removeListeners.push(() => (target.off as Method)(...args));
    });
  }
}
