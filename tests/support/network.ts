import { expect, type Page, type Request } from '@playwright/test';
import { turnEventLoop } from './page-clock.ts';

type Method = 'GET' | 'PUT' | 'POST' | 'PATCH' | 'DELETE';

interface Match {
  method?: Method;
}

/** Sets the value of `navigator.onLine` and notifies the page. Requests still succeed. */
export function setOnline(page: Page, isOnline: boolean): Promise<void> {
  return page.evaluate((value) => {
    Object.defineProperty(navigator, 'onLine', { configurable: true, get: () => value });
    window.dispatchEvent(new Event(value ? 'online' : 'offline'));
  }, isOnline);
}

const OFFLINE_KEY = 'isOffline';

/** Makes a document report that it is offline while session storage has an entry with this key. */
function overrideOnline(key: string): void {
  const isOffline = () => sessionStorage.getItem(key) !== null;
  Object.defineProperty(navigator, 'onLine', { configurable: true, get: () => !isOffline() });
  const ignoreIfOffline = (event: Event) => isOffline() && event.stopImmediatePropagation();
  window.addEventListener('online', ignoreIfOffline, { capture: true });
}

/** Overrides `navigator.onLine` in the service workers of a page. */
async function setServiceWorkersOnline(page: Page, isOnline: boolean): Promise<void> {
  for (const worker of page.context().serviceWorkers())
    await worker.evaluate((value) => {
      Object.defineProperty(navigator, 'onLine', { configurable: true, get: () => value });
    }, isOnline);
}

/**
 * Disconnects a page and its service worker from the network until `goOnline`. Overrides `navigator.onLine`, because
 * Chromium may reset the emulated value on navigation if the old frame is removed after the new one is created.
 */
export async function goOffline(page: Page): Promise<void> {
  await page.addInitScript(overrideOnline, OFFLINE_KEY);
  await page.evaluate(overrideOnline, OFFLINE_KEY);
  await setServiceWorkersOnline(page, false);
  await page.evaluate((mark) => sessionStorage.setItem(mark, 'yes'), OFFLINE_KEY);
  await page.context().setOffline(true);
  await page.evaluate(() => void window.dispatchEvent(new Event('offline')));
}

/**
 * Reconnects a page. Playwright reconnects it before its service worker, so this function notifies the page once both
 * are online.
 */
export async function goOnline(page: Page): Promise<void> {
  await page.context().setOffline(false);
  await setServiceWorkersOnline(page, true);
  await page.evaluate((mark) => {
    sessionStorage.removeItem(mark);
    window.dispatchEvent(new Event('online'));
  }, OFFLINE_KEY);
}

/** Lets the server respond, but delays the response to the page until `release` is called. */
export async function holdResponses(page: Page, url: RegExp, { method = 'GET' }: Match = {}) {
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  /** `received` is the number of responses that have arrived from the server. */
  const held = { release, requests: [] as Request[], received: 0 };
  await page.route(url, async (route) => {
    if (route.request().method() !== method) return route.fallback();
    held.requests.push(route.request());
    try {
      const response = await route.fetch();
      const body = await response.body();
      held.received += 1;
      await released;
      await route.fulfill({ response, body });
    } catch {
      // The page was closed or the test has ended. If a page still waits for the response, its test fails.
    }
  });
  return held;
}

interface Failure extends Match {
  /** The number of requests that fail. Default: all. */
  times?: number;
  status?: number;
  /** Whether failures are held until `deliver` is called. For tests that pause the page's clock. */
  held?: boolean;
}

declare global {
  interface Window {
    /**
     * When the page sent each request that `failResponses` holds, and when it had received the whole response, by the
     * page's clock.
     */
    heldRequests?: { sentAt: number; receivedAt?: number }[];
  }
}

/**
 * Records `window.heldRequests` in the page, because the test is notified of a request later, possibly after it has
 * advanced the page's clock. Gives the page a fully buffered copy of the response, so reading the copy requires no
 * messages from other processes.
 */
function recordHeldRequests({ source, method }: { source: string; method: string }): void {
  const pattern = new RegExp(source);
  const { fetch } = window;
  const times: NonNullable<Window['heldRequests']> = [];
  window.heldRequests = times;
  window.fetch = async (input, init) => {
    const url = input instanceof Request ? input.url : String(input);
    if (!pattern.test(url) || (init?.method ?? 'GET') !== method) return fetch(input, init);
    const time: (typeof times)[number] = { sentAt: performance.now() };
    times.push(time);
    const response = await fetch(input, init);
    const copy = new Response(await response.text(), response);
    time.receivedAt = performance.now();
    return copy;
  };
}

/** Responds with an error instead of the server, as if the server were overloaded or unreachable. */
export async function failResponses(
  page: Page,
  url: RegExp,
  { method = 'GET', times = Number.POSITIVE_INFINITY, status = 503, held = false }: Failure = {},
) {
  const requests: Request[] = [];
  const waiting: (() => void)[] = [];
  if (held) {
    const match = { source: url.source, method };
    await page.addInitScript(recordHeldRequests, match);
    await page.evaluate(recordHeldRequests, match);
  }
  const detail = status === 429 ? 'Too many requests' : 'The database cannot be reached';
  await page.route(url, async (route) => {
    if (route.request().method() !== method || requests.length >= times) return route.fallback();
    requests.push(route.request());
    if (held) await new Promise<void>((resolve) => waiting.push(resolve));
    return route.fulfill({
      status,
      contentType: 'application/problem+json',
      body: JSON.stringify({ type: 'about:blank', title: 'Failed', status, detail, code: 'unavailable' }),
    });
  });
  return {
    requests,
    /** Delivers the held failures, and resolves after the page has handled the last one. */
    async deliver(): Promise<void> {
      for (const respond of waiting.splice(0)) respond();
      await expect
        .poll(() => page.evaluate(() => window.heldRequests?.every(({ receivedAt }) => receivedAt !== undefined)))
        .toBe(true);
      await turnEventLoop(page);
    },
    /** Returns the milliseconds from each failure to the next request, by the page's clock. Timers may be 1 ms late. */
    delays: () =>
      page.evaluate(() => {
        const times = window.heldRequests ?? [];
        return times.slice(1).map(({ sentAt }, index) => Math.round(sentAt - (times[index]?.receivedAt ?? Number.NaN)));
      }),
  };
}

/**
 * Resolves after the test has been notified of all requests that the page has started. Call this function before
 * asserting that there were none.
 */
export async function requestsReported(page: Page): Promise<void> {
  await turnEventLoop(page);
  const own = page.waitForRequest(/\/robots\.txt\?barrier$/);
  await page.evaluate(() => void fetch('/robots.txt?barrier'));
  await own;
}

/** Records the matching requests that a page sends after this call. */
export function recordRequests(page: Page, url: RegExp, method: Method = 'GET'): Request[] {
  const requests: Request[] = [];
  page.on('request', (request) => {
    if (request.method() === method && url.test(request.url())) requests.push(request);
  });
  return requests;
}
