import { type KeyboardEvent as ReactKeyboardEvent, useEffect, useEffectEvent } from 'react';
import { createBrowserStore, useBrowserStore } from '../storage/browser-store.ts';

/** 'off' if the visitor has turned off single-key shortcuts. */
const shortcuts = createBrowserStore<'off' | null>('shortcuts', (stored) => (stored === 'off' ? stored : null));

export function setShortcuts(isOn: boolean): void {
  shortcuts.write(isOn ? undefined : 'off');
}

/** Returns whether single-key shortcuts are active. */
export function useShortcuts(): boolean {
  return useBrowserStore(shortcuts, (stored) => stored === null);
}

/**
 * Handles a key anywhere on the page, unless `isShortcutBlocked` returns true. If `run` handles the key, it must
 * prevent the key's default action.
 */
export function useShortcut(key: string, run: (event: KeyboardEvent) => void): void {
  const onKeyDown = useEffectEvent((event: KeyboardEvent) => {
    if (event.key === key && !isShortcutBlocked(event)) run(event);
  });
  useEffect(() => {
    document.addEventListener('keydown', onKeyDown);
    return () => document.removeEventListener('keydown', onKeyDown);
  }, []);
}

/**
 * Returns whether a key must not trigger a shortcut. Blocks all keys if the visitor has turned shortcuts off or a
 * dialog is open. Otherwise, blocks keys in text fields and menus, keys that are already handled, and combinations with
 * Ctrl, Alt or Meta.
 */
export function isShortcutBlocked(event: KeyboardEvent): boolean {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return true;
  if (shortcuts.read() !== null || document.querySelector('dialog[open]') !== null) return true;
  return event.target instanceof Element && event.target.matches(':read-write, textarea, select');
}

/**
 * Returns whether a key belongs to an input method, which composes text. In Safari, the key that ends a composition has
 * only the key code (https://bugs.webkit.org/show_bug.cgi?id=165004).
 */
export function isComposing({ nativeEvent, keyCode }: ReactKeyboardEvent): boolean {
  return nativeEvent.isComposing || keyCode === 229;
}
