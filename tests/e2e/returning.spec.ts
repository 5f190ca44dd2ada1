import { randomUUID } from 'node:crypto';
import type { Page } from '@playwright/test';
import { expect, test, visit } from '../support/e2e-test.ts';
import { EVENTS, newItemsButton, setTabVisibility, visitWithLiveUpdates } from '../support/live-page.ts';
import { failResponses, holdResponses, recordRequests, requestsReported, setOnline } from '../support/network.ts';
import { otherVisitor } from '../support/other-visitor.ts';
import { expectTodaysLink, skipDay, waitUntilHandled } from '../support/page-clock.ts';
import { cardNames, commentTexts, failureToast, searchBox, upvoteOf } from '../support/screen.ts';

test.use({ live: true });

/** Opens a page, and waits until it has received a live update. */
async function watchProduct(page: Page, path: string, product: { id: string; name: string }): Promise<void> {
  await visitWithLiveUpdates(page, path);
  await otherVisitor(page).upvote(product.id);
  await expect(upvoteOf(page, product.name)).toHaveAccessibleName(`Upvote ${product.name}, 1`);
}

/** Hides the tab for `time`, such as `06:00`, and calls `meanwhile` after the stream of the tab has closed. */
async function lookAway(page: Page, time: string, meanwhile: () => Promise<unknown>): Promise<void> {
  const left = page.waitForEvent('requestfailed', (request) => EVENTS.test(request.url()));
  await setTabVisibility(page, 'hidden');
  await page.clock.fastForward(time);
  await left;
  await meanwhile();
  await setTabVisibility(page, 'visible');
}

/**
 * Hides the tab for six minutes, repeatedly until it shows these products, because the server may send a cached
 * response.
 */
async function returnUntil(page: Page, names: string[]): Promise<void> {
  await expect(async () => {
    await setTabVisibility(page, 'hidden');
    await page.clock.fastForward('06:00');
    await setTabVisibility(page, 'visible');
    await expect(cardNames(page)).toHaveText(names, { timeout: 2_000 });
  }).toPass();
}

test('a visitor who returns to the tab finds the list as it was, and new launches behind a button', async ({
  page,
  site,
}) => {
  const term = `dorado ${randomUUID()}`;
  const product = await site.addProduct({ name: 'Dorado one', description: term });
  await page.clock.install();
  await watchProduct(page, `/?q=${term}`, product);
  await lookAway(page, '06:00', () => site.addProduct({ name: 'Dorado two', description: term }));
  await expect(newItemsButton(page)).toHaveText('1 new launch');
  await expect(cardNames(page)).toHaveText(['Dorado one']);
  await newItemsButton(page).click();
  await expect(cardNames(page)).toHaveText(['Dorado two', 'Dorado one']);
});

test('a visitor who returns to a sorted list gets its current order, because no button announces changes', async ({
  page,
  site,
}) => {
  const term = `gourami ${randomUUID()}`;
  const product = await site.addProduct({ name: 'Gourami one', description: term });
  await page.clock.install();
  await watchProduct(page, `/?q=${term}&sort=top`, product);
  const { id } = await site.addProduct({ name: 'Gourami two', description: term });
  await site.addUpvotes(id, 2);
  await returnUntil(page, ['Gourami two', 'Gourami one']);
});

test('a visitor who returns to a search without results sees products that were launched in the meantime', async ({
  page,
  site,
}) => {
  const term = `halibut ${randomUUID()}`;
  const product = await site.addProduct({ name: 'Halibut one', description: randomUUID() });
  await page.clock.install();
  await watchProduct(page, `/?q=${product.description}`, product);
  await searchBox(page).fill(term);
  await expect(page.getByText(/^Nothing on the horizon/)).toBeVisible();
  await site.addProduct({ name: 'Halibut two', description: term });
  await returnUntil(page, ['Halibut two']);
});

test('a new launch is highlighted and gets the focus, unless the visitor has moved the focus to the search box', async ({
  page,
  site,
}) => {
  const term = `sculpin ${randomUUID()}`;
  const add = (name: string) => site.addProduct({ name, description: term });
  const card = (name: string) => page.getByRole('article').filter({ hasText: name });
  await add('Sculpin one');
  await visitWithLiveUpdates(page, `/?q=${term}`);
  await add('Sculpin two');
  await expect(newItemsButton(page)).toHaveText('1 new launch');
  const read = await holdResponses(page, /\/api\/products\?/);
  await newItemsButton(page).click();
  await searchBox(page).focus();
  read.release();
  await expect(cardNames(page)).toHaveText(['Sculpin two', 'Sculpin one']);
  // The next announcement follows the moment at which the launch would have got the focus.
  await add('Sculpin three');
  await expect(newItemsButton(page)).toHaveText('1 new launch');
  await expect(searchBox(page)).toBeFocused();
  await newItemsButton(page).click();
  await expect(card('Sculpin three')).toBeFocused();
  await expect(card('Sculpin three')).toHaveAttribute('data-highlighted', 'true');
  await expect(card('Sculpin two')).not.toHaveAttribute('data-highlighted');
});

test('if new launches cannot be read, a message says so, and the list and the focus stay', async ({
  page,
  site,
  expectConsoleError,
}) => {
  expectConsoleError(/503/);
  expectConsoleError(/Failed to fetch products/);
  const term = `rockling ${randomUUID()}`;
  const product = await site.addProduct({ name: 'Rockling one', description: term });
  await watchProduct(page, `/?q=${term}`, product);
  await site.addProduct({ name: 'Rockling two', description: term });
  await expect(newItemsButton(page)).toHaveText('1 new launch');
  await failResponses(page, /\/api\/products\?/);
  await newItemsButton(page).press('Enter');
  await expect(failureToast(page)).toContainText('Loading failed. Please try again.');
  await expect(newItemsButton(page)).toBeFocused();
  await expect(cardNames(page)).toHaveText(['Rockling one']);
});

test('when the network is back, new comments and launches still wait behind a button', async ({ page, site }) => {
  const term = `fusilier ${randomUUID()}`;
  const product = await site.addProduct({ name: 'Fusilier one', description: term });
  await site.addComments(product.id, [{ content: 'Here' }]);
  for (const { path, add, label, items, shown, reads } of [
    {
      path: `/product/${product.id}`,
      add: () => otherVisitor(page).comment(product.id, 'There'),
      label: '1 new comment',
      items: commentTexts,
      shown: 'Here',
      reads: /\/comments\?/,
    },
    {
      path: `/?q=${term}`,
      add: () => site.addProduct({ name: 'Fusilier two', description: term }),
      label: '1 new launch',
      items: cardNames,
      shown: 'Fusilier one',
      reads: /\/api\/products\?.*limit=/,
    },
  ]) {
    await visitWithLiveUpdates(page, path);
    await add();
    await expect(newItemsButton(page)).toHaveText(label);
    const read = recordRequests(page, reads);
    await setOnline(page, false);
    const votes = page.waitForRequest(/\/api\/upvotes\?/);
    await setOnline(page, true);
    await waitUntilHandled(page, await votes);
    await requestsReported(page);
    expect(read).toEqual([]);
    await expect(newItemsButton(page)).toHaveText(label);
    await expect(items(page)).toHaveText([shown]);
  }
});

test('a visitor who returns to the tab the next day finds new launches and a link to that day’s leaderboard', async ({
  page,
  site,
}) => {
  await page.addInitScript((seenAt) => {
    localStorage.setItem('visits', JSON.stringify({ seenAt, lastEndedAt: seenAt - 86_400_000 }));
  }, Date.now());
  await page.clock.install();
  await visitWithLiveUpdates(page, '/');
  await lookAway(page, '24:00:00', async () => {
    // A hidden tab may read its storage again, but must not read news yet, because they would lack this launch.
    await page.evaluate(() => window.dispatchEvent(new StorageEvent('storage', { key: 'visits' })));
    await page.clock.runFor(5_000);
    await requestsReported(page);
    await site.addProduct({ name: 'Dab overnight', createdAt: new Date().toISOString() });
    await expect.poll(async () => (await page.request.get('/')).text()).toContain('Dab overnight');
  });
  await expectTodaysLink(page);
  await expectTodaysLink(page, page.getByRole('link', { name: 'Today’s ranking' }));
  await page.getByRole('button', { name: 'Since your last visit' }).click();
  const launched = page.getByRole('dialog').getByRole('region', { name: 'New products' });
  await expect(launched.getByRole('link', { name: 'Dab overnight' })).toBeVisible();
});

test('a page that the browser restores the next day links to that day’s leaderboard', async ({ page }) => {
  await visit(page, '/');
  await page.goto('/robots.txt');
  await skipDay(page);
  await page.goBack();
  await expectTodaysLink(page);
});

test('a page shows current ages as soon as the visitor returns to a device that was asleep', async ({ page, site }) => {
  const term = `remora ${randomUUID()}`;
  const createdAt = new Date(Date.now() - 60_000).toISOString();
  await site.addProduct({ name: 'Remora asleep', description: term, createdAt });
  await page.clock.install();
  await visit(page, `/?q=${term}`);
  await setTabVisibility(page, 'hidden');
  // Unlike `fastForward`, this fires no timers.
  await page.clock.setSystemTime(Date.now() + 8 * 3_600_000);
  await setTabVisibility(page, 'visible');
  await expect(page.locator('.product-card .time-ago')).toHaveText('8 hours ago');
});

test('a page that opens after the device was asleep links to today’s leaderboard', async ({ page, site }) => {
  const term = `dragonet ${randomUUID()}`;
  const createdAt = new Date(Date.now() - 60_000).toISOString();
  await site.addProduct({ name: 'Dragonet awake', description: term, createdAt });
  // The clock of `performance` stood still for a day.
  await page.addInitScript((dayMs) => {
    const { now } = Date;
    Date.now = () => now() + dayMs;
  }, 86_400_000);
  const serversDay = () => new Date().toISOString().slice(0, 10);
  const before = serversDay();
  await visit(page, `/?q=${term}`);
  await expect(page.locator('.product-card .time-ago'), 'the page knows the current time').toHaveText('1 day ago');
  await expect(page.getByRole('main').getByRole('link', { name: 'Leaderboards' })).toHaveAttribute(
    'href',
    new RegExp(`/\\?board=(${before}|${serversDay()})$`),
  );
});

test('while the tab that leads the shared stream is frozen, another tab polls', async ({ page, site }) => {
  const product = await site.addProduct({ name: 'Triggerfish' });
  const leader = await page.context().newPage();
  await leader.goto('/robots.txt');
  // Holds the lock of the leader, but sends nothing.
  await leader.evaluate(
    () =>
      new Promise<void>((lead) => {
        void navigator.locks.request('live-3', () => {
          lead();
          return new Promise(() => {});
        });
      }),
  );
  await page.clock.install();
  await visit(page, `/product/${product.id}`);
  await page.clock.fastForward(3_500);
  await expect(page.getByRole('region', { name: 'Network' }), 'the deferred features have loaded').toBeAttached();
  await otherVisitor(page).upvote(product.id);
  for (const ms of [75_000, 15_000]) await page.clock.fastForward(ms);
  await expect(upvoteOf(page, 'Triggerfish')).toHaveAccessibleName('Upvote Triggerfish, 1');
  const opened = page.waitForResponse(EVENTS);
  await leader.close();
  await opened;
  await otherVisitor(page).upvote(product.id);
  await expect(upvoteOf(page, 'Triggerfish')).toHaveAccessibleName('Upvote Triggerfish, 2');
});
