import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { expect, type Page } from '@playwright/test';
import type { AxeResults, RunOptions } from 'axe-core';

const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

const source = readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Fails if axe finds a violation in the current page. `state` describes the page in the error message. */
export async function expectAccessible(page: Page, state: string): Promise<void> {
  // Finishes the running animations, except endless ones, and makes later ones instant, because the colours during a
  // transition are not part of the design.
  await page.evaluate(() => {
    const atOnce = new CSSStyleSheet();
    atOnce.replaceSync(
      '*, ::before, ::after { animation-duration: 0s !important; transition-duration: 0s !important; }',
    );
    document.adoptedStyleSheets = [...document.adoptedStyleSheets, atOnce];
    for (const animation of document.getAnimations()) {
      if (animation.effect?.getComputedTiming().iterations !== Number.POSITIVE_INFINITY) animation.finish();
    }
  });
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(await source);
  const { violations } = await page.evaluate(
    (options) => (window as unknown as { axe: { run(options: RunOptions): Promise<AxeResults> } }).axe.run(options),
    // Only media rules and experimental rules need preloading, which takes half a second per run.
    { runOnly: { type: 'tag' as const, values: RULES }, resultTypes: ['violations' as const], preload: false },
  );
  const found = violations.flatMap(({ id, nodes }) =>
    nodes.map((node) => `${id}: ${node.html.slice(0, 160)} — ${node.failureSummary?.replaceAll(/\s+/g, ' ')}`),
  );
  expect(found, state).toEqual([]);
}
