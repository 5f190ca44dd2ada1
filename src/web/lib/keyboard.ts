import { createBrowserStore, useBrowserStore } from './browser-store.ts';

/** Kept only where shortcuts of a single key were turned off. */
const shortcuts = createBrowserStore<'off' | null>('shortcuts', (kept) => (kept === 'off' ? kept : null));

export function setShortcuts(isOn: boolean): void {
  shortcuts.write(isOn ? undefined : 'off');
}

/** Whether shortcuts of a single key do anything. */
export function useShortcuts(): boolean {
  return useBrowserStore(shortcuts, (kept) => kept === null);
}

/**
 * Whether a key is no shortcut: it belongs to a text field, an open dialog, or a shortcut of the browser, or the visitor turned
 * shortcuts off.
 */
export function isBusyElsewhere(event: KeyboardEvent): boolean {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return true;
  if (shortcuts.read() !== null || document.querySelector('dialog[open]') !== null) return true;
  const { target } = event;
  return target instanceof HTMLElement && (target.isContentEditable || target.matches('input, textarea, select'));
}
