import { randomUUID } from 'node:crypto';
import type { Page } from '@playwright/test';
import { SESSION_STORAGE_KEY } from '../../src/contract/api.ts';
import { contrast } from '../../src/settings/accent.ts';
import { expectAccessible } from '../support/axe.ts';
import type { E2eSite } from '../support/e2e-site.ts';
import { expect, test, visit } from '../support/e2e-test.ts';
import { recordShifts } from '../support/layout-shifts.ts';
import { requestsReported } from '../support/network.ts';
import { otherVisitor } from '../support/other-visitor.ts';
import { freezeAges } from '../support/page-clock.ts';
import { toHex } from '../support/screen.ts';

const HOUR_MS = 60 * 60_000;
const ago = (hours: number) => new Date(Date.now() - hours * HOUR_MS).toISOString();
const newsButton = (page: Page) => page.getByRole('button', { name: 'Since your last visit' });
const dialog = (page: Page) => page.getByRole('dialog', { name: 'Since your last visit' });

/**
 * Adds three products whose names begin with `name`, and returns the stored entries of a browser that last visited the
 * site six hours ago. The browser has upvoted one product, whose launch window has ended since, and commented on another.
 */
async function remember(site: E2eSite, name: string) {
  const launched = await site.addProduct({ name: `${name} new`, createdAt: ago(0) });
  const upvoted = await site.addProduct({ name: `${name} upvoted`, createdAt: ago(27) });
  const discussed = await site.addProduct({ name: `${name} discussed`, createdAt: ago(200) });
  const [own] = await site.addComments(discussed.id, [
    { content: 'Mine', createdAt: ago(7) },
    { content: 'A late answer', createdAt: ago(2) },
  ]);
  const entries = {
    visits: { seenAt: Date.now() - 6 * HOUR_MS, lastEndedAt: null },
    upvoted: [upvoted.id],
    commented_on: [discussed.id],
    own_comments: [own?.id],
  };
  // The panel reads the list of the home page, for which the cache may still serve an earlier response.
  await expect.poll(async () => (await fetch(site.address)).text()).toContain(`/product/${launched.id}"`);
  return { launched, upvoted, discussed, entries };
}

/** Stores the entries before the page's own code runs, in each document that lacks them. */
async function store(page: Page, entries: Record<string, unknown>): Promise<void> {
  await page.addInitScript((all) => {
    for (const [key, value] of Object.entries(all)) {
      if (localStorage.getItem(key) === null) localStorage.setItem(key, JSON.stringify(value));
    }
  }, entries);
}

/** Simulates a browser that is never idle, so idle callbacks run only after their timeout. */
async function neverIdle(page: Page): Promise<void> {
  await page.addInitScript(() => {
    window.requestIdleCallback = (callback, options) => {
      if (options?.timeout === undefined) return 0;
      return window.setTimeout(() => callback({ didTimeout: true, timeRemaining: () => 0 }), options.timeout);
    };
  });
}

test('a returning visitor sees new products, results of launches they upvoted and new comments on products they commented on', async ({
  page,
  site,
}) => {
  const { entries, upvoted, discussed } = await remember(site, 'Islet');
  // The deferred features forget votes that the server does not know.
  const session = `session-${randomUUID()}`;
  await otherVisitor(page, session).upvote(upvoted.id);
  await page.addInitScript(([key, id]) => localStorage.setItem(key, id), [SESSION_STORAGE_KEY, session] as const);
  const busy = await site.addProduct({ name: 'Islet busy', createdAt: ago(200) });
  await site.addComments(busy.id, Array(101).fill({ createdAt: ago(1) }));
  await store(page, { ...entries, commented_on: [discussed.id, busy.id] });
  await freezeAges(page);
  const shifts = await recordShifts(page);
  await page.goto('/');
  await expect(newsButton(page)).toBeVisible();
  expect(await shifts()).toEqual([]);

  await newsButton(page).click();
  const section = (name: string) => dialog(page).getByRole('region', { name, exact: true });
  await expect(section('New products').getByRole('link', { name: 'Islet new' })).toBeVisible();
  await expect(section('You upvoted')).toContainText(/Islet upvoted.* on \d+ \w+ \d{4}/);
  await expect(section('You commented').getByRole('listitem')).toHaveText([
    /Islet discussed1 new comment/,
    /Islet busy100\+ new comments/,
  ]);
  await expectAccessible(page, 'the panel about the last visit');

  await section('You commented').getByRole('link', { name: 'Islet discussed' }).click();
  await expect(page).toHaveURL(`/product/${discussed.id}#comments`);
  await expect(dialog(page)).toHaveCount(0);
});

test('a dismissed panel stays closed in every tab and after a reload, until the visitor restores it in the saved products', async ({
  page,
  context,
  site,
}) => {
  const { entries } = await remember(site, 'Skerry');
  await store(page, entries);
  await page.goto('/');
  const other = await context.newPage();
  await neverIdle(other);
  await other.goto('/');
  await expect(newsButton(other)).toBeVisible();
  await newsButton(page).click();
  await dialog(page).getByRole('button', { name: 'Don’t show this again' }).click();
  await expect(page.getByRole('heading', { name: 'Top Products Launching Today' })).toBeFocused();
  for (const tab of [page, other]) await expect(newsButton(tab)).toHaveCount(0);
  await other.close();

  const asked: string[] = [];
  page.on('request', (request) => asked.push(new URL(request.url()).pathname));
  await visit(page, '/');
  await page.getByRole('button', { name: 'Saved products' }).click();
  await expect(newsButton(page)).toHaveCount(0);
  await requestsReported(page);
  expect(asked.filter((path) => path.endsWith('/standing'))).toEqual([]);
  const saved = page.getByRole('dialog', { name: 'Saved products' });
  await saved.getByRole('button', { name: 'Show again what happened since my last visit' }).click();
  await expect(saved.getByRole('button', { name: 'Close' })).toBeFocused();
  await page.keyboard.press('Escape');
  await expect(newsButton(page)).toBeVisible();
});

test('‘Since your last visit’ precedes the list in the order of focus', async ({ page, site }) => {
  const { entries } = await remember(site, 'Atoll');
  await store(page, entries);
  await visit(page, '/');
  await expect(newsButton(page)).toBeVisible();
  await page.getByRole('main').getByRole('link', { name: 'Leaderboards' }).focus();
  await page.keyboard.press('Shift+Tab');
  await expect(newsButton(page)).toBeFocused();
});

test('the focus ring of ‘Since your last visit’ is visible on the waves in both themes', async ({ page, site }) => {
  const { entries } = await remember(site, 'Holm');
  await store(page, entries);
  await visit(page, '/');
  await expect(newsButton(page)).toBeVisible();
  // After a key press, browsers also show the focus ring on elements that a script focuses.
  await page.keyboard.press('Tab');
  await newsButton(page).focus();
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    const ring = await newsButton(page).evaluate((button) => getComputedStyle(button).outlineColor);
    for (const wave of ['.waves-far', '.waves-middle']) {
      const sea = await page.locator(wave).evaluate((layer) => getComputedStyle(layer).backgroundColor);
      expect(contrast(toHex(ring), toHex(sea)), `${colorScheme}, ${wave}`).toBeGreaterThanOrEqual(3);
    }
  }
});

test('the button ‘Since your last visit’ and the markers of new products are not printed', async ({ page, site }) => {
  const { entries } = await remember(site, 'Tombolo');
  await store(page, entries);
  await visit(page, '/');
  await expect(newsButton(page)).toBeVisible();
  await expect(page.locator('.new-marker').first()).toBeVisible();
  await page.emulateMedia({ media: 'print' });
  await expect(newsButton(page)).toBeHidden();
  await expect(page.locator('.new-marker').first()).toBeHidden();
});

test('the last-visit panel is shown on a return, but on a first visit, without storage or offline, it is not shown and sends no requests', async ({
  page,
  newVisitor,
  site,
}) => {
  const { entries } = await remember(site, 'Sandbank');
  const refusing = await newVisitor();
  await refusing.addInitScript(() => {
    for (const name of ['getItem', 'setItem'] as const) {
      Storage.prototype[name] = () => {
        throw new DOMException('Refused', 'SecurityError');
      };
    }
  });
  const offline = await newVisitor();
  await store(offline, entries);
  await offline.addInitScript(() => Object.defineProperty(Navigator.prototype, 'onLine', { get: () => false }));
  const returning = await newVisitor();
  await store(returning, entries);
  for (const visitor of [page, refusing, offline, returning]) {
    const asked: string[] = [];
    visitor.on('request', (request) => asked.push(new URL(request.url()).pathname));
    await visit(visitor, '/');
    await expect(visitor.getByRole('region', { name: 'Network' }), 'the deferred features have loaded').toBeAttached();
    // The panel waits for an idle callback, and idle callbacks run in order. The timeout is longer than the panel's,
    // and is needed because a busy machine may have no idle time for minutes.
    await visitor.evaluate(() => new Promise((resolve) => requestIdleCallback(resolve, { timeout: 10_000 })));
    await requestsReported(visitor);
    const isReturning = visitor === returning;
    await expect(newsButton(visitor)).toHaveCount(isReturning ? 1 : 0);
    expect(asked.some((path) => /\/standing$|\/comments$/.test(path))).toBe(isReturning);
  }
});
