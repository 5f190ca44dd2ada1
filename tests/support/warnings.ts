import type { Page } from '@playwright/test';

/** Records the page's console warnings, except Playwright's warning about blocked service workers. */
export function recordWarnings(page: Page): string[] {
  const warnings: string[] = [];
  page.on('console', (message) => {
    const text = message.text();
    if (message.type() === 'warning' && text !== 'Service Worker registration blocked by Playwright')
      warnings.push(text);
  });
  return warnings;
}
