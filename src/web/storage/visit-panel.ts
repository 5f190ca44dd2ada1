import { createBrowserStore, useBrowserStore } from './browser-store.ts';

/** 'off' if the visitor has turned off the panel that shows what happened since the last visit. */
const visitPanel = createBrowserStore<'off' | null>('visit_panel', (stored) => (stored === 'off' ? stored : null));

export function setVisitPanel(isOn: boolean): void {
  visitPanel.write(isOn ? undefined : 'off');
}

/** Returns whether the panel may be shown. A control in the dialog of saved products turns it on again. */
export function useVisitPanel(): boolean {
  return useBrowserStore(visitPanel, (stored) => stored === null);
}
