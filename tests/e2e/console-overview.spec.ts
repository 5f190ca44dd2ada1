import { randomUUID } from 'node:crypto';
import type { Page, Request, Route } from '@playwright/test';
import { CONSOLE_API } from '../../src/contract/console/paths.ts';
import {
  MAX_COUNTED_PRODUCTS,
  MAX_WAITING,
  type OverviewRecord,
  type WaitingRecord,
} from '../../src/contract/console/records.ts';
import { addSubmissions, openConsole, signIn, signInAndOpen, stopLiveUpdates } from '../support/console-page.ts';
import { expect, test } from '../support/e2e-test.ts';
import { PHONE } from '../support/screen.ts';

/**
 * Records the texts that the chart draws, with the chart's heading and their positions.
 * @returns a function that reads them, such as `By hour (UTC): 1,000 at 40`.
 */
async function recordTexts(page: Page): Promise<() => Promise<string[]>> {
  await page.addInitScript(() => {
    const drawn = new Set<string>();
    Object.assign(window, { drawn });
    const { fillText } = CanvasRenderingContext2D.prototype;
    CanvasRenderingContext2D.prototype.fillText = function (text, x, ...place) {
      drawn.add(`${document.querySelector('.chart h3')?.textContent}: ${text} at ${Math.round(x)}`);
      fillText.call(this, text, x, ...place);
    };
  });
  return () => page.evaluate(() => [...(window as unknown as { drawn: Set<string> }).drawn]);
}

test('the open overview counts a submission that arrives', async ({ page, site }) => {
  await signIn(page, site);
  const requests: Request[] = [];
  page.on('request', (request) => {
    if (request.url().endsWith(CONSOLE_API.overview)) requests.push(request);
  });
  await openConsole(page);
  // The page refetches its data once live updates are connected.
  await expect.poll(() => requests.length).toBeGreaterThan(1);
  await (await requests[1]?.response())?.finished();
  await expect(page.getByText(/^0 submissions, /)).toBeVisible();
  await addSubmissions(site, [`Fresh ${randomUUID()}`]);
  await expect(page.getByText(/^1 submission, /)).toBeVisible();
});

test('a connection that has gone silent is shown as lost, and replaced', async ({ page, site, pauseClock }) => {
  await signIn(page, site);
  await page.clock.install();
  const stream = page.waitForResponse(CONSOLE_API.events);
  await openConsole(page);
  await stream;
  // Holds the request for the next stream, because the clock may also skip the delay before that request.
  const next = new Promise<Route>((resolve) => {
    void page.route(CONSOLE_API.events, resolve);
  });
  // For the page, this is longer than two heartbeats.
  await pauseClock();
  await expect(page.getByText('Connecting …')).toBeVisible();
  await page.clock.resume();
  await (await next).continue();
  await expect(page.getByText('Live', { exact: true })).toBeVisible();
});

test('after a refusal, live updates are requested again when the browser comes online, and within 2 minutes', async ({
  page,
  site,
  expectConsoleError,
  pauseClock,
}) => {
  await signIn(page, site);
  await page.clock.install();
  expectConsoleError(/503 \(Service Unavailable\).*events/);
  const refusal = { status: 503, headers: { 'Retry-After': '3600' } };
  await page.route(CONSOLE_API.events, (route) => route.fulfill(refusal));
  await openConsole(page, '/console/comments');
  await expect(page.getByText('Connecting …')).toBeVisible();
  // On a phone, only screen readers get the text. Until updates are live, the dot is a ring.
  await page.setViewportSize(PHONE);
  await expect(page.getByRole('banner')).toMatchAriaSnapshot('- paragraph: /Connecting …/');
  const dot = page.locator('.live-dot');
  await expect(dot).toHaveCSS('background-color', 'rgba(0, 0, 0, 0)');
  await expect(dot).toHaveCSS('border-top-width', '2px');
  await pauseClock(10_000);
  let isRefused = false;
  const refused = page.waitForResponse((response) => {
    isRefused ||= response.url().endsWith(CONSOLE_API.events);
    return isRefused;
  });
  // A refusal makes the page check its session, after it has scheduled the next stream.
  const checked = page.waitForRequest((request) => isRefused && request.url().endsWith(CONSOLE_API.session));
  await page.evaluate(() => dispatchEvent(new Event('online')));
  await refused;
  await checked;
  await page.unroute(CONSOLE_API.events);
  await page.clock.fastForward(120_000);
  await page.clock.resume();
  await expect(page.getByText('Live', { exact: true })).toBeVisible();
  const product = await site.addProduct();
  await page.request.post('/api/comments', {
    headers: { 'x-user-session': `session-${randomUUID()}` },
    data: { productId: product.id, content: `Fresh ${product.id}` },
  });
  await expect(page.getByText(`Fresh ${product.id}`)).toBeVisible();
});

test('the overview is refetched every minute, because its chart may lack the votes that live updates have reported', async ({
  page,
  site,
}) => {
  await signIn(page, site);
  await stopLiveUpdates(page);
  await page.clock.install();
  await openConsole(page);
  await expect(page.getByText('Waiting for you')).toBeVisible();
  const next = page.waitForRequest(CONSOLE_API.overview);
  await page.clock.fastForward(60_000);
  await next;
});

test('the day labels below the chart, and their positions, are the same in every time zone', async ({
  site,
  newVisitor,
}) => {
  const labels: string[][] = [];
  // All pages draw the same days, even if the day changes during the test.
  let overview: OverviewRecord | undefined;
  for (const timezoneId of ['UTC', 'Europe/Berlin', 'America/New_York']) {
    const page = await newVisitor({ timezoneId });
    const drawn = await recordTexts(page);
    // Ignores the chart by hour, which also has day labels and is redrawn once its size is known.
    const days = async () => (await drawn()).filter((text) => /^By day \(UTC\): \d+ [A-Z]\w+ at/.test(text));
    await signIn(page, site);
    await page.route(CONSOLE_API.overview, async (route) => {
      const response = await route.fetch();
      overview ??= await response.json();
      await route.fulfill({ response, json: overview });
    });
    await openConsole(page);
    await page.getByRole('heading', { name: 'By hour' }).waitFor();
    await page.getByRole('radio', { name: '30 days' }).check();
    await expect.poll(async () => (await days()).length).toBeGreaterThan(3);
    labels.push(await days());
  }
  expect(labels[1]).toEqual(labels[0]);
  expect(labels[2]).toEqual(labels[0]);
});

test('the overview and the queue show which numbers are not exact, and round sizes to a unit', async ({
  page,
  site,
}) => {
  const waiting: WaitingRecord = { submissions: MAX_WAITING, heldComments: 1, bursts: 1 };
  await signIn(page, site);
  await page.route(CONSOLE_API.waiting, (route) => route.fulfill({ json: waiting }));
  await page.route(CONSOLE_API.overview, async (route) => {
    const response = await route.fetch();
    const overview: OverviewRecord = await response.json();
    const database = { products: MAX_COUNTED_PRODUCTS + 1, bytes: 2 ** 30 - 1 };
    await route.fulfill({ response, json: { ...overview, waiting, database } });
  });
  await openConsole(page);
  const facts = page.getByRole('definition');
  await expect(facts.nth(0)).toHaveText('1,001+1,000+ submissions, 1 held comment');
  await expect(facts.nth(1)).toHaveText('1in seven days');
  await expect(facts.nth(2)).toHaveText('≈ 10,0011.0 GiB in the database');
  await openConsole(page, '/console/queue');
  await expect(page.getByRole('radio', { name: 'Submissions 1,000+' })).toBeVisible();
});

test('in a browser whose language is invalid, the overview still offers the chart as a table', async ({
  page,
  site,
}) => {
  // Chromium reports this language on Linux without a locale. It makes the chart's library throw while loading.
  await page.addInitScript(() => Object.defineProperty(navigator, 'language', { get: () => 'en-US@posix' }));
  await signInAndOpen(page, site, '/console');
  await page.getByText('As a table').click();
  await expect(page.getByRole('columnheader', { name: 'Upvotes' })).toBeVisible();
});

test('the chart labels its scale even for a million upvotes', async ({ page, site }) => {
  const drawn = await recordTexts(page);
  await signIn(page, site);
  await page.route(CONSOLE_API.overview, async (route) => {
    const response = await route.fetch();
    const overview: OverviewRecord = await response.json();
    const hours = overview.hours.map((hour) => ({ ...hour, upvotes: 1_000_000 }));
    await route.fulfill({ response, json: { ...overview, hours } });
  });
  await openConsole(page);
  await expect.poll(drawn).toContainEqual(expect.stringContaining(': 1,000,000 at '));
});

test('in forced colours, the lines of the chart and the marks of its key have different colours', async ({
  page,
  site,
}) => {
  await page.emulateMedia({ forcedColors: 'active' });
  await page.addInitScript(() => {
    const strokes = new Set<unknown>();
    Object.assign(window, { strokes });
    const { stroke } = CanvasRenderingContext2D.prototype;
    Object.assign(CanvasRenderingContext2D.prototype, {
      stroke(this: CanvasRenderingContext2D, ...path: [Path2D]) {
        if (this.lineWidth > 1) strokes.add(this.strokeStyle);
        stroke.apply(this, path);
      },
    });
  });
  await signInAndOpen(page, site);
  const key = page.locator('.chart-key li');
  await expect(key).toHaveCount(3);
  const marks = await key.evaluateAll((items) =>
    items.map((item) => getComputedStyle(item, '::before').backgroundColor),
  );
  expect(new Set(marks).size).toBe(3);
  const lines = () => page.evaluate(() => [...(window as unknown as { strokes: Set<unknown> }).strokes].length);
  await expect.poll(lines).toBe(3);
});

test('before the first scheduled backup, the overview does not ask to schedule backups', async ({ page, site }) => {
  await signIn(page, site);
  await page.route(CONSOLE_API.overview, async (route) => {
    const response = await route.fetch();
    const json = { ...(await response.json()), lastBackupAt: null, backupsScheduled: true };
    await route.fulfill({ response, json });
  });
  await openConsole(page);
  // The findings below also mention BACKUP_DIR.
  const facts = page.getByRole('definition');
  await expect(facts.filter({ hasText: 'The first one is scheduled' })).toBeVisible();
  await expect(facts.filter({ hasText: 'Set BACKUP_DIR' })).toHaveCount(0);
});

test('advice on the health of the site shows its command as code', async ({ page, site }) => {
  const { id } = await site.addProduct();
  const setComments = (count: number) =>
    site.database.query('UPDATE product_counts SET comments = $2 WHERE product_id = $1', [id, count]);
  await setComments(1);
  try {
    await signInAndOpen(page, site);
    const advice = page.getByRole('region', { name: 'Health' }).getByRole('listitem').filter({ hasText: 'wrong for' });
    await expect(advice).toContainText('. Run groundswell counts check --repair.');
    await expect(advice.getByRole('code')).toHaveText('groundswell counts check --repair');
  } finally {
    await setComments(0);
  }
});
