import type { Page } from '@playwright/test';

interface Shift {
  value: number;
  sources: string[];
}

/**
 * Records the layout shifts of each document that is opened after this call.
 * @returns a function that reads the shifts of the current document.
 */
export async function recordShifts(page: Page): Promise<() => Promise<Shift[]>> {
  await page.addInitScript(() => {
    const shifts: Shift[] = [];
    Object.assign(window, { shifts });
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries() as (PerformanceEntry & {
        value: number;
        sources: { node?: Node }[];
      })[]) {
        const elements = entry.sources.map(({ node }) => (node instanceof Element ? node : node?.parentElement));
        const sources = elements.map((element) => element?.outerHTML.slice(0, 100) ?? '');
        shifts.push({ value: entry.value, sources });
      }
    }).observe({ type: 'layout-shift', buffered: true });
  });
  return async () => {
    // The observer is notified after the frame has been painted.
    await page.evaluate(
      () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done)))),
    );
    return page.evaluate(() => (window as unknown as { shifts: Shift[] }).shifts);
  };
}
