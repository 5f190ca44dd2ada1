import { randomUUID } from 'node:crypto';
import type { Page, Route } from '@playwright/test';
import { expect, test, visit } from '../support/e2e-test.ts';
import { startInterruptibleProxy } from '../support/interruptible-proxy.ts';
import { EVENTS, newItemsButton, openStreams, setTabVisibility, visitWithLiveUpdates } from '../support/live-page.ts';
import { failResponses, recordRequests } from '../support/network.ts';
import { otherVisitor } from '../support/other-visitor.ts';
import { elapseUntil } from '../support/page-clock.ts';
import { cardNames, commentTexts, commentWith, discussion, textsOf, toast, upvoteOf } from '../support/screen.ts';

test.use({ live: true });

const like = (page: Page, text: string) => commentWith(page, text).getByRole('button', { name: 'Like' });

test('an upvote updates the list and the product page of other visitors, and counts once on the visitor’s own page', async ({
  page,
  newVisitor,
  site,
}) => {
  const product = await site.addProduct({ name: 'Zebrafish' });
  const reader = await newVisitor();
  await Promise.all([
    visitWithLiveUpdates(reader, '/?q=zebrafish'),
    visitWithLiveUpdates(page, `/product/${product.id}`),
  ]);
  const own = await textsOf(upvoteOf(page, 'Zebrafish'));
  await upvoteOf(page, 'Zebrafish').click();
  await expect(upvoteOf(reader, 'Zebrafish')).toHaveAccessibleName('Upvote Zebrafish, 1');
  await expect(upvoteOf(reader, 'Zebrafish').locator('[data-roll="up"]')).toHaveText('1');
  await expect(upvoteOf(reader, 'Zebrafish')).toHaveAttribute('aria-pressed', 'false');
  await otherVisitor(page).upvote(product.id);
  for (const each of [reader, page])
    await expect(upvoteOf(each, 'Zebrafish')).toHaveAccessibleName('Upvote Zebrafish, 2');
  const counts = (await own()).map((text) => text.split(', ')[1]);
  expect(counts, 'counted once and never reverted').toEqual(['0', '1', '2']);
  await expect(toast(reader)).toHaveCount(0);
});

test('a product from the list stays on screen and receives live updates if its own request fails', async ({
  page,
  site,
  expectConsoleError,
}) => {
  expectConsoleError(/503/);
  expectConsoleError(/console\.error: Failed to fetch products/);
  const product = await site.addProduct({ name: 'Threadfin' });
  await visitWithLiveUpdates(page, '/?q=threadfin');
  await failResponses(page, new RegExp(`/api/products/${product.id}$`));
  const failed = page.waitForEvent('console', (message) => message.text().startsWith('Failed to fetch products'));
  await page.getByRole('link', { name: 'Threadfin', exact: true }).click();
  await failed;
  await otherVisitor(page).upvote(product.id);
  await expect(upvoteOf(page, 'Threadfin')).toHaveAccessibleName('Upvote Threadfin, 1');
  await expect(page.getByRole('heading', { level: 1, name: 'Threadfin' })).toBeVisible();
});

test('new comments wait behind a button and appear in the order Best; likes update in place', async ({
  page,
  site,
}) => {
  const product = await site.addProduct({ name: 'Yellowtail' });
  const [first] = await site.addComments(product.id, [
    { content: 'Older', createdAt: '2026-01-01T10:00:00Z' },
    { content: 'Newer', createdAt: '2026-01-01T11:00:00Z' },
  ]);
  await visitWithLiveUpdates(page, `/product/${product.id}`);
  await expect(commentTexts(page)).toHaveText(['Newer', 'Older']);
  const others = otherVisitor(page);
  await others.like(String(first?.id));
  await expect(like(page, 'Older')).toHaveText('Like 1');
  await expect(commentTexts(page), 'a like does not change the order').toHaveText(['Newer', 'Older']);

  await others.comment(product.id, 'From afar');
  await expect(newItemsButton(page)).toHaveText('1 new comment');
  await others.comment(product.id, 'From farther');
  await expect(newItemsButton(page)).toHaveText('2 new comments');
  await expect(page.locator('.live-updates')).toHaveAttribute('role', 'status');
  await expect(discussion(page).getByRole('heading', { level: 2 })).toHaveText('Discussion (4)');
  await expect(commentTexts(page), 'new comments do not move the others').toHaveText(['Newer', 'Older']);
  await newItemsButton(page).click();
  await expect(commentTexts(page)).toHaveText(['Older', 'From farther', 'From afar', 'Newer']);
  await expect(newItemsButton(page)).toHaveCount(0);
  await expect(commentWith(page, 'From farther').locator('..')).toBeFocused();
});

test('after Next, the page shows the updates of the product on screen', async ({ page, site }) => {
  const [, next, first] = await site.addProducts(3, (index) => ({ name: `Nannygai ${index}` }));
  const nextId = String(next?.id);
  await site.addComments(nextId, [{ content: 'Here' }]);
  await visitWithLiveUpdates(page, `/product/${first?.id}`);
  await page.getByRole('button', { name: 'Next', exact: true }).click();
  await expect(upvoteOf(page, 'Nannygai 1')).toHaveAccessibleName('Upvote Nannygai 1, 0');
  await expect(commentTexts(page)).toHaveText(['Here']);
  await otherVisitor(page).upvote(nextId);
  await expect(upvoteOf(page, 'Nannygai 1')).toHaveAccessibleName('Upvote Nannygai 1, 1');
  await otherVisitor(page).comment(nextId, 'From afar');
  await expect(newItemsButton(page)).toHaveText('1 new comment');
});

test('a visitor’s own comment and like do not appear as live updates', async ({ page, site }) => {
  const product = await site.addProduct({ name: 'Xiphias' });
  await visitWithLiveUpdates(page, `/product/${product.id}`);
  const said = await textsOf(page.locator('.live-updates'));
  const title = await textsOf(discussion(page).getByRole('heading', { level: 2 }));
  await page.getByRole('textbox', { name: 'Your comment' }).fill('My own');
  await page.getByRole('button', { name: 'Post Comment' }).click();
  await expect(commentTexts(page)).toHaveText(['My own']);
  const likes = await textsOf(like(page, 'My own'));
  await like(page, 'My own').click();
  const { id } = await otherVisitor(page).comment(product.id, 'Not mine');
  await expect(newItemsButton(page)).toHaveText('1 new comment');
  expect(await said()).toEqual(['', '1 new comment']);
  expect(await title()).toEqual(['Discussion (0)', 'Discussion (1)', 'Discussion (2)']);
  expect(await likes()).toEqual(['Like 0', 'Like 1']);
  await newItemsButton(page).click();
  await otherVisitor(page).like(id);
  await expect(like(page, 'Not mine')).toHaveText('Like 1');
});

test('new launches wait behind a button above the list', async ({ page, site }) => {
  const term = `wahoo ${randomUUID()}`;
  const add = (name: string) => site.addProduct({ name, description: term });
  await add('Wahoo one');
  await visitWithLiveUpdates(page, `/?q=${term}`);
  await add('Wahoo two');
  await site.addProduct({ name: 'Another' });
  await add('Wahoo three');
  await expect(newItemsButton(page)).toHaveText('2 new launches');
  await expect(cardNames(page)).toHaveText(['Wahoo one']);
  await newItemsButton(page).click();
  await expect(cardNames(page)).toHaveText(['Wahoo three', 'Wahoo two', 'Wahoo one']);
  await expect(newItemsButton(page)).toHaveCount(0);
});

test('a hidden tab closes its stream and catches up later, but its comments stay the same', async ({ page, site }) => {
  const product = await site.addProduct({ name: 'Viperfish' });
  await site.addComments(product.id, [{ content: 'Here' }]);
  await page.clock.install();
  const open = openStreams([page]);
  const opened = page.waitForResponse(EVENTS);
  await visit(page, `/product/${product.id}`);
  await page.clock.fastForward(3_500);
  await opened;
  await otherVisitor(page).upvote(product.id);
  await expect(upvoteOf(page, 'Viperfish')).toHaveAccessibleName('Upvote Viperfish, 1');
  const letGo = page.waitForEvent('requestfailed', (request) => EVENTS.test(request.url()));
  await setTabVisibility(page, 'hidden');
  await page.clock.fastForward(10_500);
  await letGo;
  // Visible comments become stale after half a minute.
  await page.clock.fastForward(20_500);
  await otherVisitor(page).upvote(product.id);
  await otherVisitor(page).comment(product.id, 'Meanwhile');
  await expect(upvoteOf(page, 'Viperfish')).toHaveAccessibleName('Upvote Viperfish, 1');
  expect(open.size).toBe(0);
  await setTabVisibility(page, 'visible');
  await expect(upvoteOf(page, 'Viperfish')).toHaveAccessibleName('Upvote Viperfish, 2');
  await expect(newItemsButton(page)).toHaveText('1 new comment');
  await expect.poll(() => open.size).toBe(1);
  await expect(commentTexts(page)).toHaveText(['Here']);
});

test('two tabs share one stream, and the second tab takes over when the leader closes', async ({ page, site }) => {
  const [one, two] = await site.addProducts(2, (index) => ({ name: `Urchin ${index + 1}` }));
  const other = await page.context().newPage();
  const open = openStreams([page, other]);
  await visitWithLiveUpdates(page, `/product/${one?.id}`);
  const shared = page.waitForRequest(
    (request) => EVENTS.test(request.url()) && request.url().includes(String(two?.id)),
  );
  await visit(other, `/product/${two?.id}`);
  expect((await shared).url()).toContain(String(one?.id));
  await otherVisitor(page).upvote(String(two?.id));
  await otherVisitor(page).upvote(String(one?.id));
  await expect(upvoteOf(other, 'Urchin 2')).toHaveAccessibleName('Upvote Urchin 2, 1');
  await expect(upvoteOf(page, 'Urchin 1')).toHaveAccessibleName('Upvote Urchin 1, 1');
  await expect.poll(() => [...open].map((request) => request.frame().page() === page)).toEqual([true]);
  await page.close();
  await otherVisitor(other).upvote(String(two?.id));
  await expect(upvoteOf(other, 'Urchin 2')).toHaveAccessibleName('Upvote Urchin 2, 2');
});

for (const [what, block] of [
  [
    'broadcast channels',
    () => {
      window.BroadcastChannel = class extends EventTarget {
        constructor() {
          super();
          throw new DOMException('Blocked', 'SecurityError');
        }
      } as unknown as typeof BroadcastChannel;
    },
  ],
  [
    'locks',
    () => {
      navigator.locks.request = () => Promise.reject(new DOMException('Blocked', 'SecurityError'));
    },
  ],
] as const) {
  test(`a browser that blocks ${what} still receives updates`, async ({ page, site }) => {
    const product = await site.addProduct({ name: `Stonefish ${what}` });
    await page.addInitScript(block);
    await visitWithLiveUpdates(page, `/product/${product.id}`);
    await otherVisitor(page).upvote(product.id);
    await expect(upvoteOf(page, product.name)).toHaveAccessibleName(`Upvote ${product.name}, 1`);
    await expect(page.getByRole('heading', { level: 1, name: product.name })).toBeVisible();
  });
}

test('the page reconnects after an outage and shows all changes that it missed', async ({
  page,
  newVisitor,
  site,
  expectConsoleError,
}) => {
  expectConsoleError(
    /ERR_CONNECTION_REFUSED|ERR_INCOMPLETE_CHUNKED_ENCODING|ERR_CONNECTION_RESET|ERR_EMPTY_RESPONSE|The server could not be reached/,
  );
  const product = await site.addProduct({ name: 'Tarpon' });
  const gate = await startInterruptibleProxy(site.address);
  const reader = await newVisitor({ baseURL: gate.address });
  await visitWithLiveUpdates(reader, `/product/${product.id}`);
  await otherVisitor(page).upvote(product.id);
  await expect(upvoteOf(reader, 'Tarpon')).toHaveAccessibleName('Upvote Tarpon, 1');
  const refused = reader.waitForEvent('requestfailed', (request) => /REFUSED/.test(request.failure()?.errorText ?? ''));
  await gate.disconnect();
  await refused;
  await site.addUpvotes(product.id, 3);
  await otherVisitor(page).comment(product.id, 'While you were away');
  await gate.reconnect();
  await expect(upvoteOf(reader, 'Tarpon')).toHaveAccessibleName('Upvote Tarpon, 4');
  await expect(newItemsButton(reader)).toHaveText('1 new comment');
  await otherVisitor(page).upvote(product.id);
  await expect(upvoteOf(reader, 'Tarpon')).toHaveAccessibleName('Upvote Tarpon, 5');
  await reader.close();
  await gate.disconnect();
});

test('a page whose stream is refused polls, and reconnects after Retry-After', async ({
  page,
  site,
  expectConsoleError,
}) => {
  expectConsoleError(/429/);
  const product = await site.addProduct({ name: 'Sardine' });
  await site.addComments(product.id, [{ content: 'Here' }]);
  await page.clock.install();
  const waitS = 30;
  const now = () => page.evaluate(() => performance.now());
  let refusedAt = Number.NaN;
  const refuse = async (route: Route) => {
    // Makes the changes now, because the page polls a few seconds after the refusal.
    await otherVisitor(page).upvote(product.id);
    await otherVisitor(page).comment(product.id, 'There');
    // This time is read before the page gets the response, so the measured wait is never too short.
    refusedAt = await now();
    await route.fulfill({ status: 429, headers: { 'Retry-After': `${waitS}` } });
  };
  await page.route(EVENTS, refuse, { times: 1 });
  const streams = recordRequests(page, EVENTS);
  const polls = recordRequests(page, new RegExp(`/api/products/${product.id}$`));
  const refused = page.waitForResponse(EVENTS);
  await visit(page, `/product/${product.id}`);
  await page.clock.fastForward(3_500);
  await refused;
  await elapseUntil(page, () => polls.length > 0, 200);
  expect(streams).toHaveLength(1);
  const opened = page.waitForResponse(EVENTS);
  await expect(upvoteOf(page, 'Sardine')).toHaveAccessibleName('Upvote Sardine, 1');
  await expect(newItemsButton(page)).toHaveText('1 new comment');
  await elapseUntil(page, () => streams.length > 1, 200);
  expect((await now()) - refusedAt, 'not before Retry-After has passed').toBeGreaterThan(waitS * 1_000);
  expect((await opened).status()).toBe(200);
  await otherVisitor(page).upvote(product.id);
  await expect(upvoteOf(page, 'Sardine')).toHaveAccessibleName('Upvote Sardine, 2');
});
