import { randomUUID } from 'node:crypto';
import { CONSOLE_API } from '../../src/contract/console/paths.ts';
import { holdRequests, openConsole, signIn, signInAndOpen } from '../support/console-page.ts';
import { expect, test } from '../support/e2e-test.ts';
import { setTabVisibility } from '../support/live-page.ts';
import { recordRequests, requestsReported } from '../support/network.ts';
import { otherVisitor } from '../support/other-visitor.ts';
import { waitUntilHandled } from '../support/page-clock.ts';

test('a new comment appears in a search that found none, without requests for all of its empty pages', async ({
  page,
  site,
}) => {
  const { id } = await site.addProduct();
  const text = `rare-${randomUUID()}`;
  await signIn(page, site);
  const read: string[] = [];
  await page.route(
    (url) => url.pathname === CONSOLE_API.comments && url.searchParams.has('text'),
    async (route) => {
      const cursor = new URL(route.request().url()).searchParams.get('cursor') ?? 'first';
      read.push(cursor);
      const nextCursor = { first: 'second', second: 'third' }[cursor] ?? null;
      const { items } = cursor === 'first' ? await (await route.fetch()).json() : { items: [] };
      await route.fulfill({ json: { items, nextCursor } });
    },
  );
  await openConsole(page, `/console/comments?q=${text}`);
  await expect(page.getByText('No comment matches')).toBeVisible();
  // The page refetches the list when live updates start.
  await expect.poll(() => read.filter((cursor) => cursor === 'first').length).toBeGreaterThan(1);
  await requestsReported(page);
  read.length = 0;
  await otherVisitor(page).comment(id, text);
  await expect(page.getByRole('listitem').filter({ hasText: text })).toBeVisible();
  await expect.poll(() => read).toContain('third');
  expect(read).not.toContain('second');
});

test('a hidden tab closes its stream, and catches up when it is visible again', async ({ page, site }) => {
  const { id } = await site.addProduct();
  await page.clock.install();
  const reads = recordRequests(page, new RegExp(`${CONSOLE_API.comments}\\?.*${id}`));
  const opened = page.waitForResponse((response) => response.url().endsWith(CONSOLE_API.events));
  await signInAndOpen(page, site, `/console/comments?product=${id}`);
  await opened;
  const closed = page.waitForEvent('requestfailed', (request) => request.url().endsWith(CONSOLE_API.events));
  await setTabVisibility(page, 'hidden');
  await page.clock.fastForward(10_500);
  await closed;
  // The reopened stream reports no change, so only the refetch at its start can show the comment.
  await page.route(CONSOLE_API.events, (route) => route.fulfill({ contentType: 'text/event-stream', body: ':\n\n' }));
  const release = await holdRequests(page, CONSOLE_API.events);
  await setTabVisibility(page, 'visible');
  // The list is also refetched because the tab is visible. The comment is written after this refetch.
  await requestsReported(page);
  for (const read of reads) await waitUntilHandled(page, read);
  const text = `Meanwhile ${id}`;
  await otherVisitor(page).comment(id, text);
  release();
  await expect(page.getByText(text)).toBeVisible();
});

test('after the device has slept, the page replaces its stream, which may have ended unnoticed', async ({
  page,
  site,
}) => {
  await page.clock.install();
  const opened = page.waitForResponse((response) => response.url().endsWith(CONSOLE_API.events));
  await signInAndOpen(page, site, '/console/comments');
  await opened;
  const reopened = page.waitForRequest((request) => request.url().endsWith(CONSOLE_API.events));
  await setTabVisibility(page, 'hidden');
  // While a device sleeps, no timer runs.
  await page.clock.setSystemTime(Date.now() + 60_000);
  await setTabVisibility(page, 'visible');
  await reopened;
});
