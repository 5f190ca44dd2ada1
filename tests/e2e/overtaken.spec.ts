import type { Page } from '@playwright/test';
import { ordinal } from '../../src/contract/leaderboards/format.ts';
import * as paths from '../../src/contract/paths.ts';
import type { E2eSite } from '../support/e2e-site.ts';
import { expect, test } from '../support/e2e-test.ts';
import { EVENTS, visitWithLiveUpdates } from '../support/live-page.ts';
import { otherVisitor } from '../support/other-visitor.ts';
import { skipDay } from '../support/page-clock.ts';

test.use({ live: true });

/**
 * Adds a launch and a rival that is not its neighbour on the leaderboard. Launches of other tests may have more votes.
 * @returns the launch's page, its rank, and a function that lets the rival overtake the launch.
 */
async function addRivals(page: Page, site: E2eSite, votes: number) {
  const createdAt = new Date().toISOString();
  const [leader, neighbour, rival] = await site.addProducts(3, () => ({ createdAt }));
  for (const [index, product] of [leader, neighbour, rival].entries())
    await site.addUpvotes(product?.id ?? '', votes - index);
  const standing = async () => (await (await page.request.get(paths.api.standings(leader?.id ?? ''))).json()).day;
  await expect.poll(async () => (await standing())?.votes).toBe(votes);
  const { rank } = await standing();
  async function overtake(): Promise<void> {
    for (let vote = 0; vote < 3; vote += 1) await otherVisitor(page).upvote(rival?.id ?? '');
    await expect.poll(async () => (await standing())?.rank).toBe(rank + 1);
  }
  return { address: `/product/${leader?.id}`, rank, overtake };
}

test('a product page shows within minutes that a launch which was not its neighbour has overtaken it', async ({
  page,
  site,
}) => {
  const { address, rank, overtake } = await addRivals(page, site, 30);
  await page.clock.install();
  await visitWithLiveUpdates(page, address);
  const result = page.getByRole('region', { name: 'Launch result' });
  await expect(result).toContainText(new RegExp(`^${rank}\\D+ of \\d+ on `));
  // Runs the refetch that the new launches have scheduled.
  await page.clock.fastForward(10_000);
  await overtake();
  // When the clock advances, the page considers its stream dead and opens another one, which sends no events.
  await page.route(EVENTS, () => {});
  // The page refetches after at most one and a half times the mean interval.
  await page.clock.fastForward(90_000);
  await expect(result).toContainText(new RegExp(`^${rank + 1}\\D+ of \\d+ on `));
});

test('a product page that was rendered before another launch overtook its launch shows the new rank when it loads', async ({
  page,
  site,
}) => {
  const { address, rank, overtake } = await addRivals(page, site, 40);
  const response = await page.request.get(address);
  expect(await response.text()).toContain(`Why ${ordinal(rank)}?`);
  await overtake();
  await page.route(address, (route) => route.fulfill({ response }));
  await skipDay(page);
  // Neither a stream nor a periodic refetch shows the new rank.
  await page.route(EVENTS, () => {});
  await page.addInitScript(() => Object.assign(window, { setInterval: () => 0 }));
  await page.goto(address);
  await expect(page.getByText(`Why ${ordinal(rank + 1)}?`)).toBeVisible();
});
