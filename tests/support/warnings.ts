import type { Page } from '@playwright/test';

/** The warnings that the site puts into the console. Playwright's own, that it keeps service workers away, may come at any moment. */
export function recordWarnings(page: Page): string[] {
  const warnings: string[] = [];
  page.on('console', (message) => {
    const text = message.text();
    if (message.type() === 'warning' && text !== 'Service Worker registration blocked by Playwright')
      warnings.push(text);
  });
  return warnings;
}
