import { createBrowserStore, useBrowserStore } from './browser-store.ts';

/** Stored only if the visitor closed the panel about the last visit for good. */
const visitPanel = createBrowserStore<'off' | null>('visit_panel', (stored) => (stored === 'off' ? stored : null));

export function setVisitPanel(isOn: boolean): void {
  visitPanel.write(isOn ? undefined : 'off');
}

/** Whether the panel may show; the saved products bring it back. */
export function useVisitPanel(): boolean {
  return useBrowserStore(visitPanel, (stored) => stored === null);
}
