import type { Page } from '@playwright/test';

/** The console warnings of the site. Playwright adds one about blocked service workers at any moment. */
export function recordWarnings(page: Page): string[] {
  const warnings: string[] = [];
  page.on('console', (message) => {
    const text = message.text();
    if (message.type() === 'warning' && text !== 'Service Worker registration blocked by Playwright')
      warnings.push(text);
  });
  return warnings;
}
