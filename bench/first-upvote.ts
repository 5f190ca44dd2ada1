import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { brotliCompressSync, constants } from 'node:zlib';
import { type Browser, chromium } from '@playwright/test';
import { CHROMIUM } from '../tests/support/chromium.ts';
import { writeResults } from './harness/results.ts';
import { startSampleSite } from './harness/server-process.ts';
import { spreadsOf } from './harness/statistics.ts';
import type { BenchOptions } from './options.ts';

const PAGES: Record<string, string> = { 'home page': '/', 'product page': '/product/git' };
/** A mid-range phone on a slow network, with the values that Lighthouse uses. */
const PHONE = { cpuSlowdown: 4, kilobitsPerSecond: 1_600, latencyMs: 150 };

/** Times of the events of a visit, in milliseconds since the navigation started. */
interface Visit {
  paintMs: number;
  /** When the button, clicked at the first paint, showed the upvote. */
  upvoteMs: number;
  /** When the server's response to the upvote had arrived. */
  savedMs: number;
  /** When the button was hydrated. */
  hydratedMs: number;
}

const MEASURES = ['paintMs', 'upvoteMs', 'savedMs', 'hydratedMs'] as const;

/**
 * Measures how long a visitor on a mid-range phone waits until an upvote, clicked at the first paint, takes effect, and
 * until its button is hydrated. Compares loading the app after the first paint, as the site does, with preloading it.
 */
export async function firstUpvote({ rounds }: BenchOptions): Promise<void> {
  const site = await startSampleSite();
  const sides = {
    'after the first paint': await startRewritingProxy(site.address, (html) => html),
    'at once': await startRewritingProxy(site.address, preloadApp),
  };
  const browser = await chromium.launch(CHROMIUM);
  try {
    const results: Record<string, Record<string, object>> = {};
    for (const [page, path] of Object.entries(PAGES)) {
      const visits: Record<string, Visit[]> = {};
      for (let round = 1; round <= rounds; round += 1) {
        for (const [side, { address }] of Object.entries(sides)) {
          const visit = await visitAndUpvote(browser, `${address}${path}`);
          visits[side] = [...(visits[side] ?? []), visit];
          console.log(
            `${page}, app ${side}: ${MEASURES.map((name) => `${name} ${visit[name].toFixed(0)}`).join(', ')}`,
          );
        }
      }
      results[page] = Object.fromEntries(Object.entries(visits).map(([side, all]) => [side, spreadsOf(all, MEASURES)]));
    }
    await writeResults('first-upvote', { rounds, phone: PHONE, results });
  } finally {
    await browser.close();
    for (const { close } of Object.values(sides)) close();
    await site.stop();
  }
}

async function visitAndUpvote(browser: Browser, url: string): Promise<Visit> {
  const context = await browser.newContext({ viewport: { width: 412, height: 823 }, serviceWorkers: 'block' });
  try {
    const page = await context.newPage();
    await page.addInitScript(clickFirstUpvote);
    const devtools = await context.newCDPSession(page);
    const bytesPerSecond = (PHONE.kilobitsPerSecond * 1024) / 8;
    await devtools.send('Network.emulateNetworkConditions', {
      offline: false,
      latency: PHONE.latencyMs,
      downloadThroughput: bytesPerSecond,
      uploadThroughput: bytesPerSecond / 2,
    });
    await devtools.send('Emulation.setCPUThrottlingRate', { rate: PHONE.cpuSlowdown });
    await page.goto(url, { waitUntil: 'commit' });
    const visit = await page.waitForFunction(
      (count) => Object.keys(window.measuredVisit ?? {}).length === count && window.measuredVisit,
      MEASURES.length,
      { polling: 200 },
    );
    return (await visit.jsonValue()) as Visit;
  } finally {
    await context.close();
  }
}

/** Runs in the page: clicks the first upvote button at the first paint and records the times of a `Visit`. */
function clickFirstUpvote(): void {
  const visit: Partial<Visit> = {};
  window.measuredVisit = visit;
  new PerformanceObserver((entries) => {
    const sent = entries.getEntries().find(({ name }) => name.endsWith('/upvote'));
    if (sent instanceof PerformanceResourceTiming) visit.savedMs ??= sent.responseEnd;
  }).observe({ type: 'resource' });
  new PerformanceObserver((entries) => {
    const paint = entries.getEntriesByName('first-contentful-paint')[0];
    const button = document.querySelector<HTMLElement>('button[aria-pressed][data-product]');
    if (!paint || !button) return;
    visit.paintMs = paint.startTime;
    new MutationObserver(() => {
      if (button.ariaPressed === 'true') visit.upvoteMs ??= performance.now();
      // Hydration removes the attribute that the head script sets.
      if (visit.upvoteMs !== undefined && button.dataset.voted === undefined) visit.hydratedMs ??= performance.now();
    }).observe(button, { attributes: true });
    button.click();
  }).observe({ type: 'paint', buffered: true });
}

/** Changes a document so that it preloads the app's modules and runs them as soon as the document is parsed. */
function preloadApp(html: string): string {
  return html.replace(
    /<script data-app="([^"]+)" data-modules="([^"]*)"[^>]*>/,
    (_tag, app: string, modules: string) => {
      const preloads = [app, ...modules.split(' ').filter(Boolean)].map(
        (href) => `<link rel="modulepreload" href="${href}">`,
      );
      return `${preloads.join('')}<script type="module" src="${app}"></script><script>`;
    },
  );
}

/**
 * Starts a proxy that applies `change` to documents and forwards other responses unchanged. Both sides use such a
 * proxy, so it slows both.
 */
async function startRewritingProxy(
  site: string,
  change: (html: string) => string,
): Promise<{ address: string; close(): void }> {
  const server = createServer((incoming, outgoing) => {
    const isDocument = incoming.headers.accept?.startsWith('text/html') === true;
    const { method, url = '/' } = incoming;
    const headers = { ...incoming.headers, ...(isDocument && { 'accept-encoding': 'identity' }) };
    const forwarded = request(`${site}${url}`, { method, headers }, async (response) => {
      const { statusCode = 502, headers: received } = response;
      if (!isDocument) return response.pipe(outgoing.writeHead(statusCode, received));
      const { 'content-length': _length, ...kept } = received;
      const html = brotliCompressSync(change(await text(response)), {
        params: { [constants.BROTLI_PARAM_QUALITY]: 5 },
      });
      return outgoing.writeHead(statusCode, { ...kept, 'content-encoding': 'br' }).end(html);
    });
    // The page may be closed during a request.
    forwarded.on('error', () => outgoing.destroy());
    outgoing.on('close', () => forwarded.destroy());
    incoming.pipe(forwarded);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { address: `http://127.0.0.1:${port}`, close: () => server.close().closeAllConnections() };
}

declare global {
  interface Window {
    measuredVisit?: Partial<Visit>;
  }
}
