import type { Page, Request } from '@playwright/test';
import { heard } from './clock.ts';

type Method = 'GET' | 'PUT' | 'POST' | 'DELETE';

interface Match {
  method?: Method;
  /** How many requests it concerns; all by default. */
  times?: number;
}

/** Has the browser say that there is a network, or none, to this page alone. What is asked all the same comes through. */
export function sayOnline(page: Page, isOnline: boolean): Promise<void> {
  return page.evaluate((value) => {
    Object.defineProperty(navigator, 'onLine', { configurable: true, get: () => value });
    window.dispatchEvent(new Event(value ? 'online' : 'offline'));
  }, isOnline);
}

/** Lets the server answer and keeps the answer from the page until it is released. */
export async function holdResponses(page: Page, url: RegExp, { method = 'GET' }: Match = {}) {
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const requests: Request[] = [];
  await page.route(url, async (route) => {
    if (route.request().method() !== method) return route.fallback();
    requests.push(route.request());
    try {
      const response = await route.fetch();
      const body = await response.body();
      await released;
      await route.fulfill({ response, body });
    } catch {
      // The page was left, or the test is over: nobody waits for this answer. Where somebody does, the test fails by that.
    }
  });
  return { release, requests };
}

interface Failure extends Match {
  status?: number;
  /** Each failure is told only when `tell` is called, so that a page's halted clock stands still meanwhile. */
  untold?: boolean;
}

/** Answers in the server's place with an error, as a server that is overloaded or away would. */
export async function failResponses(
  page: Page,
  url: RegExp,
  { method = 'GET', times = Number.POSITIVE_INFINITY, status = 503, untold = false }: Failure = {},
) {
  const requests: Request[] = [];
  const waiting: (() => void)[] = [];
  const detail = status === 429 ? 'Too many requests' : 'The database cannot be reached';
  await page.route(url, async (route) => {
    if (route.request().method() !== method || requests.length >= times) return route.fallback();
    requests.push(route.request());
    if (untold) await new Promise<void>((resolve) => waiting.push(resolve));
    return route.fulfill({
      status,
      contentType: 'application/problem+json',
      body: JSON.stringify({ type: 'about:blank', title: 'Failed', status, detail, code: 'unavailable' }),
    });
  });
  return {
    requests,
    /** Tells the last failure, and resolves once the page has heard it. */
    async tell(): Promise<void> {
      for (const answer of waiting.splice(0)) answer();
      await heard(page, requests.at(-1));
    },
  };
}

/** The requests of a page from now on that match. */
export function recordRequests(page: Page, url: RegExp, method: Method = 'GET'): Request[] {
  const requests: Request[] = [];
  page.on('request', (request) => {
    if (request.method() === method && url.test(request.url())) requests.push(request);
  });
  return requests;
}
